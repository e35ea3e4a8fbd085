import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@vat/domain';
import { openHttpServer } from '@vat/testkit/local-server';
import express from 'express';
import { sendError } from '../middleware/request.js';
import { sendZip } from './send-zip.js';

/** More than a system buffers of one connection over loopback. */
const FILE = Buffer.alloc(36 * 2 ** 20, 7);
const STALLED_MS = 500;

/** Sends one large file to `read`, which gets a promise of the server's end and returns whether the file was complete. */
const download = async (
  read: (answer: IncomingMessage, served: Promise<unknown>) => Promise<void>,
  signal = new AbortController().signal,
): Promise<boolean> => {
  const app = express();
  const served = new Promise<void>((resolve, reject) => {
    app.get('/', (_req, res) => {
      const zip = Readable.from([FILE], { objectMode: false });
      const beforeEnd = async () => undefined;
      const limits = { stalledMs: STALLED_MS, pollIntervalMs: 20 };
      sendZip(res, zip, { fileName: 'a.zip', signal, beforeEnd, ...limits }).then(resolve, reject);
    });
  });
  const server = await openHttpServer(app);
  const request = get(server.url, { agent: false });
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await read(answer, served);
    return answer.complete;
  } finally {
    request.destroy();
    await server.close();
  }
};

test('a client that reads a large file slowly and steadily gets all of it', async () => {
  const began = performance.now();
  let taken = 0;
  const slowly = async (answer: IncomingMessage) => {
    for await (const chunk of answer) {
      taken += (chunk as Buffer).length;
      // About 20 MB/s: the whole file takes several times the stall timeout.
      const early = taken / 20_000 - (performance.now() - began);
      if (early > 5) await pause(early);
    }
  };
  expect(await download(slowly)).toBe(true);
  expect(taken).toBe(FILE.length);
  expect(performance.now() - began).toBeGreaterThan(3 * STALLED_MS);
});

test('a client that stops reading is disconnected', async () => {
  const stops = async (answer: IncomingMessage, served: Promise<unknown>) => {
    answer.on('error', () => undefined);
    await served;
  };
  expect(await download(stops)).toBe(false);
});

test('a download ends at once when its lease is lost, since another one may run', async () => {
  const lease = new AbortController();
  let taken = 0;
  const reads = async (answer: IncomingMessage, served: Promise<unknown>) => {
    answer.on('error', () => undefined);
    answer.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      lease.abort();
    });
    await expect(served).rejects.toMatchObject({ name: 'AbortError' });
  };
  expect(await download(reads, lease.signal)).toBe(false);
  expect(taken).toBeLessThan(FILE.length / 2);
});

test('a key that ends before the first byte gets the error envelope', async () => {
  const lease = new AbortController();
  const app = express();
  app.get('/', async (_req, res) => {
    const prepare = async function* () {
      lease.abort(new AppError('UNAUTHORIZED'));
      yield FILE;
    };
    const zip = Readable.from(prepare(), { objectMode: false });
    await sendZip(res, zip, { fileName: 'a.zip', signal: lease.signal, beforeEnd: async () => undefined });
  });
  app.use(sendError);
  const server = await openHttpServer(app);
  try {
    const answer = await fetch(server.url);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-disposition')).toBeNull();
    expect(await answer.json()).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
  } finally {
    await server.close();
  }
});
