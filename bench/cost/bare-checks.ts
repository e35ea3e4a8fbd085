// A program: the least that a direct check takes. Express, a script in Redis that counts the calls of the key, a statement that
// reserves a unit and inserts the request, a BullMQ job for `bare-lookups.ts`, and the answer when that publishes the end.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { MEMBER_STATES, newUuid } from '@vat/domain';
import { connectRedis } from '@vat/queues';
import { Queue } from 'bullmq';
import express from 'express';
import pg from 'pg';
import { bareQueueOf, CALL_COUNTER, ENDS } from './bare-queue.js';

const { DATABASE_URL = '', REDIS_URL = '', REDIS_PREFIX = '', BARE_ACCOUNT = '' } = process.env;
const ADMIT = `
  WITH unit AS (
    INSERT INTO usage (account_id, period, used, reserved) VALUES ($2, $6, 0, 1)
    ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
  )
  INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
    window_ends_at, due_at, quota_period)
  VALUES ($1, $2, false, 'waiting', $3, $4, $5, $3, '[]', now(), now() + interval '20 seconds', now(), $6)`;

const raise = (error: unknown): void => console.error(error);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' });
const redis = connectRedis(REDIS_URL, 'producer', raise);
const subscriber = connectRedis(REDIS_URL, 'consumer', raise);
const queueing = connectRedis(REDIS_URL, 'consumer', raise);
await once(redis, 'ready');
const script = String(await redis.script('LOAD', CALL_COUNTER));
const queues = new Map(
  MEMBER_STATES.map((state) => [
    state as string,
    new Queue(bareQueueOf(state), { connection: queueing, prefix: REDIS_PREFIX }),
  ]),
);
const waiting = new Map<string, () => void>();
await subscriber.subscribe(`${REDIS_PREFIX}:${ENDS}`);
subscriber.on('message', (_channel: string, id: string) => waiting.get(id)?.());

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post('/v1/checks', express.json(), async (req, res) => {
  const { vat_number: number } = req.body as { vat_number: string };
  await redis.evalsha(script, 1, `${REDIS_PREFIX}:calls:${BARE_ACCOUNT}`);
  const [id, state] = [newUuid(), number.slice(0, 2)];
  const ended = new Promise<void>((resolve) => waiting.set(id, resolve));
  const values = [id, BARE_ACCOUNT, number, state, number.slice(2), new Date().toISOString().slice(0, 7)];
  await pool.query({ name: 'admit', text: ADMIT, values });
  await queues.get(state)?.add('lookup', { id, number, publish: true });
  await ended;
  waiting.delete(id);
  res.status(201).json({ id, vat_number: number });
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
process.once('SIGTERM', () => process.exit(0));
process.send?.({ port: (server.address() as AddressInfo).port });
