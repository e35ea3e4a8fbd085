import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenLocally } from './local-server.js';

/** A forward proxy on loopback. `seen`: the first line and the credentials of each request. */
export type TestProxy = {
  /** `host:port` */
  host: string;
  seen: { line: string; credentials: string | undefined }[];
  close: () => Promise<void>;
};

/** Opens a proxy that forwards plain requests (absolute form) and tunnels (CONNECT). */
export const openProxy = async (): Promise<TestProxy> => {
  const seen: TestProxy['seen'] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    seen.push({ line: `${method} ${url}`, credentials: headers['proxy-authorization'] });
  const server = createServer((from, to) => {
    note(from);
    const { 'proxy-authorization': _credentials, ...headers } = from.headers;
    const onward = request(String(from.url), { method: String(from.method), headers }, (answer) => {
      to.writeHead(Number(answer.statusCode), answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.writeHead(502).end());
    from.pipe(onward);
  });
  server.on('connect', (from: IncomingMessage, socket: Socket) => {
    note(from);
    const [host, port] = String(from.url).split(':');
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.on('close', () => onward.destroy());
  });
  const { host, close } = await listenLocally(server);
  return { host, seen, close };
};
