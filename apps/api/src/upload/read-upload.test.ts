import { connect, type Socket } from 'node:net';
import type { AppError } from '@vat/domain';
import { type LocalServer, openHttpServer, until } from '@vat/testkit';
import express from 'express';
import { readUpload } from './read-upload.js';

const DEADLINE_MS = 300;

let server: LocalServer;
let outcomes: (AppError | number)[];
const sockets: Socket[] = [];
beforeEach(async () => {
  outcomes = [];
  const read = readUpload({ deadlineMs: DEADLINE_MS });
  const app = express();
  app.post('/', async (req, res) => {
    await read(req, res, ['label']).then(
      ({ bytes }) => outcomes.push(bytes.length),
      (error: AppError) => outcomes.push(error),
    );
    res.end();
  });
  server = await openHttpServer(app);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

const begin = async (type: string, body: string): Promise<Socket> => {
  const socket = connect(server.port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 100000\r\n\r\n${body}`);
  return socket;
};
const outcome = () => until('an outcome', () => outcomes[0]);

const KINDS = [
  ['text/csv', 'vat_number\n'],
  ['multipart/form-data; boundary=X', '--X\r\nContent-Disposition: form-data; name="file"\r\n\r\nvat_number\n'],
] as const;

test.each(KINDS)(
  '%s that is sent too slowly is refused at the deadline, however steadily it arrives',
  async (type, body) => {
    const startedAt = performance.now();
    const socket = await begin(type, body);
    const drip = setInterval(() => socket.write('x'), 20);
    const refused = await outcome();
    clearInterval(drip);
    expect(refused).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('took longer') });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(DEADLINE_MS - 5);
  },
);

test.each(KINDS)('%s whose client disconnects fails immediately', async (type, body) => {
  const socket = await begin(type, body);
  socket.destroy();
  expect(await outcome()).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringContaining('ended early') });
});

test.each(KINDS)('%s that is complete in time is read', async (type, body) => {
  const socket = await begin(type, body);
  socket.write(`${'x'.repeat(100_000 - body.length - 7)}\r\n--X--`);
  expect(await outcome()).toBe(type === 'text/csv' ? 100_000 : 'vat_number\n'.length + 100_000 - body.length - 7);
});
