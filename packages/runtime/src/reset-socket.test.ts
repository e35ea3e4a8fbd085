import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { resetSocket } from './reset-socket.js';

let server: Server;
let accepted: Socket;
let socket: Socket;
beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = once(server, 'connection');
  socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  [accepted] = (await connection) as [Socket];
  if (socket.connecting) await once(socket, 'connect');
});
afterEach(async () => {
  accepted.destroy();
  server.close();
  await once(server, 'close');
});

const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

test('the other side sees a reset', async () => {
  const error = once(accepted, 'error');
  resetSocket(socket);
  expect(await error).toMatchObject([{ code: 'ECONNRESET' }]);
});

test('a connection whose end begins to be sent in this turn is closed', async () => {
  const ended = once(accepted, 'end');
  accepted.resume();
  socket.end();
  resetSocket(socket);
  await ended;
  accepted.destroy();
  while (openSockets() > 0) await setImmediate();
});
