import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@vat/db';
import { createLogger } from '@vat/runtime';
import { until } from '@vat/testkit';
import express from 'express';
import { z } from 'zod';
import { contextOf } from '../http/call.js';
import { refuseBrokenCall } from '../http/connection.js';
import { openRaw, type RawConnection } from '../raw-connection.fixture.js';
import { type InTurn, keyedSemaphore } from '../turns.js';
import { readUpload } from './read-upload.js';
import { receiveUpload } from './receive-upload.js';

const REQUEST_TIMEOUT_MS = 200;

const caller = { accountId: 'a' } as Caller;
const atOnce: InTurn = (_key, work) => work();
const deps = {
  readUpload: readUpload({ deadlineMs: 60_000 }),
  uploadInTurn: keyedSemaphore(1),
  storeInTurn: atOnce,
  sendFile: () => Promise.reject(new Error('no file is sent')),
  now: () => new Date(),
  baseUrl: () => '',
};

/** Resolves when an upload may be stored. */
let storing: Promise<void> = Promise.resolve();

const app = express();
app.post('/uploads', async (req, res) => {
  contextOf(res).findCaller = async () => caller;
  const call = { req, res, caller, idempotencyOf: () => null };
  await receiveUpload(deps, call, z.object({}), async ({ bytes }) => {
    await storing;
    res.send(`${bytes.length} bytes`);
    return { kind: 'created', answer: { status: 201, body: Buffer.alloc(0), headers: {} } };
  });
});
app.post('/other', (req) => void req.resume());

const server = createServer({ connectionsCheckingInterval: 20 }, app);
// Node takes the longer of the two for the whole request.
server.headersTimeout = REQUEST_TIMEOUT_MS;
server.requestTimeout = REQUEST_TIMEOUT_MS;
server.on('clientError', refuseBrokenCall(createLogger({ level: 'error', output: process.stderr, fields: {} })));

const connections: RawConnection[] = [];
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  for (const { close } of connections) close();
  await once(server.close(), 'close');
});

/** Sends a call whose body of ten bytes is incomplete. */
const begin = async (path: string): Promise<RawConnection> => {
  const connection = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  connections.push(connection);
  connection.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 10\r\n\r\nvat_n`);
  return connection;
};

test('the time that an upload waits for its turn is not taken from that for its body', async () => {
  const [first, waiting] = [await begin('/uploads'), await begin('/uploads')];
  // It began last, so the time of the others has run out before.
  const other = await begin('/other');
  await until('another call to be refused', () => other.text().includes('The request did not arrive in time.'));
  first.send('umber');
  await until('its answer', () => first.text().endsWith('10 bytes'));
  waiting.send('umber');
  await until('the answer of the next', () => waiting.text().endsWith('10 bytes'));
});

test('the time of a request behind an upload that was read counts', async () => {
  storing = new Promise(() => undefined);
  const connection = await begin('/uploads');
  connection.send('umberPOST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
  await until('its refusal', connection.isClosed);
  expect(connection.text()).toContain('The request did not arrive in time.');
});
