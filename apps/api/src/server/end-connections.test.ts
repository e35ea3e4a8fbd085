import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger, createMetrics } from '@vat/runtime';
import { until } from '@vat/testkit';
import { openRaw } from '../raw-connection.fixture.js';
import { createApiServer } from './create-api-server.js';

const noLimits = {
  log: createLogger({ level: 'error', output: process.stdout, fields: {} }),
  metrics: createMetrics('api'),
  stalledMs: 60_000,
  maxConnections: 100,
  now: () => new Date(),
};

test('once the process begins to stop, each answer ends its connection, also one whose request came before', async () => {
  const stop = new AbortController();
  const held: ServerResponse[] = [];
  const server = createApiServer({
    app: (req, res) => void (req.url === '/held' ? held.push(res) : res.end('done')),
    stopping: stop.signal,
    ...noLimits,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = () => openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  const [used, waiting] = await Promise.all([open(), open()]);
  used.send(call('/'));
  await until('the first answer', () => used.text().endsWith('done'));
  expect(used.text()).toContain('Connection: keep-alive');
  waiting.send(call('/held'));
  await until('the held request', () => held[0]);

  stop.abort();
  used.send(call('/'));
  held[0]?.end('done');
  await until('the ends', () => used.isClosed() && waiting.isClosed());
  expect(used.text().match(/Connection: .*/g)).toEqual(['Connection: keep-alive', 'Connection: close']);
  expect(waiting.text()).toMatch(/Connection: close.*done$/s);
  await new Promise((resolve) => server.close(resolve));
});

test('an answer that is not complete when the process ends is reset, so that nobody takes it for the whole', async () => {
  const cutOff = new AbortController();
  const server = createApiServer({
    app: (_req, res) => void res.write('a part'),
    stopping: new AbortController().signal,
    cutOff: cutOff.signal,
    ...noLimits,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const raw = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  raw.send('GET / HTTP/1.0\r\n\r\n');
  await until('a part of the answer', () => raw.text().endsWith('a part'));
  cutOff.abort();
  await until('the end', () => raw.isClosed());
  expect(raw.wasReset()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});
