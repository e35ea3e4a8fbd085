import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLogger } from '@vat/runtime';
import { refuseBrokenCall } from './connection.js';

const server = createServer({ connectionsCheckingInterval: 50 }, (_req, res) => res.end());
server.headersTimeout = 200;
server.on('clientError', refuseBrokenCall(createLogger({ level: 'error', output: process.stderr, fields: {} })));

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await once(server.close(), 'close');
});

/** What a connection receives on which only `sent` is sent. */
const receivedFor = async (sent: string): Promise<string> => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  if (sent !== '') socket.write(sent);
  return text(socket);
};

test('a request whose headers do not arrive in time is refused', async () => {
  const received = await receivedFor('GET / HTTP/1.1\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toContain('The request did not arrive in time.');
});

test('a connection without a request is closed without an answer', async () => {
  expect(await receivedFor('')).toBe('');
});
