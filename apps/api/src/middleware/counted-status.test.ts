import { PassThrough } from 'node:stream';
import { AppError } from '@vat/domain';
import { createLogger, createMetrics } from '@vat/runtime';
import { type LocalServer, openHttpServer, until } from '@vat/testkit';
import express from 'express';
import { openRaw } from '../raw-connection.fixture.js';
import { requestId, sendError } from './request.js';

let server: LocalServer;
let metrics: ReturnType<typeof createMetrics>;
let logged: string;
let begun: () => void;
beforeEach(async () => {
  metrics = createMetrics('api');
  logged = '';
  const output = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  const app = express();
  app.use(requestId({ log: createLogger({ level: 'info', output, fields: {} }), metrics, tracing: null }));
  app.get('/waits', () => begun());
  app.get('/breaks', (_req, res) => {
    res.write('the first byte');
    throw new Error('late');
  });
  app.get('/revoked', (_req, res) => {
    res.write('the first byte');
    throw new AppError('UNAUTHORIZED');
  });
  app.get('/refused', () => {
    throw new AppError('NOT_FOUND');
  });
  app.get('/streams', (_req, res) => void res.write('the first byte'));
  app.get('/done', (_req, res) => void res.status(202).end());
  app.use(sendError);
  server = await openHttpServer(app);
});
afterEach(() => server.close());

/** The status of the request in the log and in the metric, which are the same. */
const recorded = async () => {
  const text = await until('the log line', () =>
    logged.split('\n').find((line) => line.includes('Answered a request')),
  );
  const { status, aborted } = JSON.parse(text) as { status: number; aborted?: true };
  expect(await metrics.registry.metrics()).toContain(`status="${status}"`);
  return [status, aborted];
};

test('a caller who leaves before the answer is recorded as 499, not as a success', async () => {
  const waiting = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const connection = await openRaw(server.url);
  connection.send('GET /waits HTTP/1.1\r\nHost: x\r\n\r\n');
  await waiting;
  connection.close();
  expect(await recorded()).toEqual([499, true]);
});

test.each([
  ['/breaks', 500],
  ['/revoked', 401],
])('%s, an answer that an error breaks off, is recorded with the status of the error', async (path, status) => {
  await expect(fetch(`${server.url}${path}`).then((answer) => answer.text())).rejects.toThrow();
  expect(await recorded()).toEqual([status, true]);
});

test('a caller who leaves during the answer is recorded with the status that was sent', async () => {
  const connection = await openRaw(server.url);
  connection.send('GET /streams HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('the first byte', () => connection.text().includes('the first byte'));
  connection.close();
  expect(await recorded()).toEqual([200, true]);
});

test.each([
  ['/done', 202],
  ['/refused', 404],
])('%s is recorded with its status', async (path, status) => {
  await fetch(`${server.url}${path}`);
  expect(await recorded()).toEqual([status, undefined]);
});
