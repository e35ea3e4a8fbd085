import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { openTcpProxy, type TcpProxy } from './open-tcp-proxy.js';
import { until } from './until.js';

/** A server that sends back what it receives. */
type Echo = { address: string; server: Server; sockets: Socket[] };
const startEcho = async (prefix = ''): Promise<Echo> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => socket.write(prefix + chunk.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, server, sockets };
};

type Client = { socket: Socket; text: () => string; error: () => string | undefined };
const clients: Socket[] = [];
const open = async (proxy: TcpProxy): Promise<Client> => {
  const socket = connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  let text = '';
  let error: NodeJS.ErrnoException | undefined;
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', (reason) => {
    error = reason;
  });
  await once(socket, 'connect');
  return { socket, text: () => text, error: () => error?.code };
};
const say = async (client: Client, text: string) => {
  client.socket.write(text);
  await until(`the echo of ${text}`, () => client.text().endsWith(text));
};

let echo: Echo;
let proxy: TcpProxy;
beforeAll(async () => {
  echo = await startEcho();
});
beforeEach(async () => {
  proxy = await openTcpProxy({ to: echo.address });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
});
afterAll(() => void echo?.server.close());

test('bytes pass in both directions and are counted', async () => {
  const client = await open(proxy);
  await say(client, 'hello');
  expect(proxy.counts()).toEqual({ accepted: 1, open: 1, unreachable: 0, bytes: 10 });
  client.socket.end();
  await until('the end of both sides', () => proxy.counts().open === 0);
  expect(proxy.through('postgresql://user:pass@10.0.0.1:5432/name')).toBe(
    `postgresql://user:pass@127.0.0.1:${proxy.port}/name`,
  );
});

test('a cut ends both sides, a reset arrives as one', async () => {
  const [cut, reset] = [await open(proxy), await open(proxy)];
  await say(cut, 'one');
  await say(reset, 'two');
  proxy.cut({ greeting: 'one' });
  await until('the end', () => cut.socket.destroyed);
  expect([cut.error(), reset.socket.destroyed]).toEqual([undefined, false]);
  proxy.reset();
  await until('the reset', () => reset.socket.destroyed);
  expect(reset.error()).toBe('ECONNRESET');
  await until('both to have left', () => proxy.counts().open === 0);
});

test('a frozen connection stays open and silent, a new one too, and all arrives when it is thawed', async () => {
  const [old, other] = [await open(proxy), await open(proxy)];
  await say(old, 'old');
  await say(other, 'other');
  proxy.freeze({ greeting: 'old' });
  old.socket.write('later');
  await say(other, 'not frozen');
  const young = await open(proxy);
  young.socket.write('old as well');
  await until('the bytes to reach the proxy', () => proxy.counts().bytes >= 2 * 18 + 5 + 11);
  expect([old.text(), young.text()]).toEqual(['old', '']);
  proxy.thaw();
  await until('what was sent', () => old.text() === 'oldlater' && young.text() === 'old as well');
});

test('a server that gives up a frozen client is not noticed by the client until it is thawed', async () => {
  const client = await open(proxy);
  await say(client, 'half open');
  proxy.freeze({ existing: true });
  proxy.cut({ side: 'server' });
  await until('the server to see the end', () => echo.sockets.at(-1)?.destroyed);
  await say(await open(proxy), 'a new connection');
  expect(client.socket.destroyed).toBe(false);
  proxy.thaw();
  await until('the end', () => client.socket.destroyed);
});

test('bytes arrive later with a latency, and slowly with a limit', async () => {
  const client = await open(proxy);
  proxy.slow({ latencyMs: 60 });
  let startedAt = performance.now();
  await say(client, 'late');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
  proxy.slow({ bytesPerSecond: 10_000 });
  startedAt = performance.now();
  await say(client, 'x'.repeat(1_500));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(149);
  proxy.slow({});
  // More than the buffers of both sides.
  await say(client, 'y'.repeat(4_000_000));
});

test('a proxy that refuses accepts again at the same port', async () => {
  const client = await open(proxy);
  await proxy.refuse();
  await expect(open(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await say(client, 'still open');
  await proxy.accept();
  await say(await open(proxy), 'again');
});

test('a balancer gives a connection to the first target that accepts it, and closes it when none does', async () => {
  const second = await startEcho('second:');
  const gone = await startEcho();
  gone.server.close();
  let targets = [gone.address, second.address];
  const balancer = await openTcpProxy({ to: () => targets });
  const client = await open(balancer);
  await say(client, 'hello');
  expect(client.text()).toBe('second:hello');
  targets = [gone.address];
  const refused = await open(balancer);
  await until('the end', () => refused.socket.destroyed);
  expect(balancer.counts().unreachable).toBe(1);
  await balancer.close();
  second.server.close();
});
