// A program: what a read costs at least. Express, a script in Redis that counts the calls of the key, the statement over `pg`,
// the answer as JSON, and a line in the log.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connectRedis } from '@vat/queues';
import express from 'express';
import pg from 'pg';
import { CALL_COUNTER } from './bare-queue.js';
import { bareStatements } from './bare-statements.js';

const { DATABASE_URL = '', REDIS_URL = '', REDIS_PREFIX = '', BARE_ACCOUNT = '' } = process.env;

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' });
const redis = connectRedis(REDIS_URL, 'producer', (error) => console.error(error));
await once(redis, 'ready');
const script = String(await redis.script('LOAD', CALL_COUNTER));
const { findCheck } = await bareStatements();

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.get('/v1/checks/:id', async (req, res) => {
  const startedAt = performance.now();
  res.once('close', () => {
    const line = { level: 'info', message: 'Answered a request.', path: req.path, status: res.statusCode };
    process.stdout.write(
      `${JSON.stringify({ ...line, request_id: randomUUID(), duration_ms: performance.now() - startedAt, timestamp: new Date() })}\n`,
    );
  });
  const key = String(req.get('authorization'));
  if (Number(await redis.evalsha(script, 1, `${REDIS_PREFIX}:calls:${key}`)) > 100_000)
    return void res.status(429).end();
  const { rows } = await pool.query<{ bytes: Buffer }>(findCheck(req.params.id, BARE_ACCOUNT));
  const [row] = rows;
  if (!row) return void res.status(404).end();
  res.json(JSON.parse(row.bytes.toString('utf8')));
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.once('SIGTERM', () => process.exit(0));
