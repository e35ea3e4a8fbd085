import { connect, type Socket } from 'node:net';

/** One sign-in of an attacker. `from`: its X-Forwarded-For. */
export type Try = { email: string; password: string; from?: string };

const SOCKETS = 300;
const TICK_MS = 10;

const requestText = (host: string, { email, password, from }: Try): string => {
  const body = JSON.stringify({ email, password });
  return [
    'POST /app/api/session HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
};

/**
 * Sends sign-ins at a constant rate over open connections until it is stopped. Requests are written and answers are counted as
 * text: an HTTP client would use CPU time that the service under test needs.
 */
export const openFlood = (baseUrl: string, perSecond: number, nextTry: (n: number) => Try) => {
  const { hostname, port, host } = new URL(baseUrl);
  const statuses: Record<string, number> = {};
  const free: Socket[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < SOCKETS; i += 1) {
    const socket = connect(Number(port), hostname, () => free.push(socket));
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      const end = answer.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0);
      if (end < 0 || answer.length < end + 4 + length) return;
      const status = answer.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = '';
      free.push(socket);
    });
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond;
    while (sent < due) {
      const socket = free.pop();
      if (!socket) break;
      socket.write(requestText(host, nextTry(sent)));
      sent += 1;
    }
  }, TICK_MS);
  return {
    /** The number of answers so far, by status. */
    statuses,
    /** The rate of sign-ins sent so far. */
    perSecond: () => sent / ((performance.now() - startedAt) / 1_000),
    stop: () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
};
