import { createHmac } from 'node:crypto';
import { Agent } from 'node:https';
import got from 'got';
import type { Pool } from 'pg';

type Row = { type: string; body: string; url: string; secret: string };

/**
 * The job that a user would write with a queue library and got: it reads event and endpoint, signs, sends a POST over
 * keep-alive connections, and records the result in one statement. The queue retries. Throws on anything but 2xx.
 */
export const postAndLog = (pool: Pool): ((deliveryId: string) => Promise<void>) => {
  const client = got.extend({
    method: 'POST',
    agent: { https: new Agent({ keepAlive: true }) },
    timeout: { request: 10_000 },
    retry: { limit: 0 },
    followRedirect: false,
  });
  return async (deliveryId) => {
    // The prefix of the secret is used as the key, since any text serves; a user's own table would contain the plain secret.
    const { rows } = await pool.query<Row>({
      name: 'read',
      text: `SELECT e.type, e.body, w.url, w.secret_prefix AS secret FROM delivery d JOIN event e ON e.id = d.event_id
         JOIN webhook w ON w.account_id = d.account_id WHERE d.id = $1 AND d.state = 'pending'`,
      values: [deliveryId],
    });
    const [row] = rows;
    if (!row) return;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', row.secret).update(`${timestamp}.${row.body}`).digest('hex');
    const at = new Date();
    const start = performance.now();
    const { statusCode } = await client(row.url, {
      body: row.body,
      headers: {
        'content-type': 'application/json',
        'x-service-event': row.type,
        'x-service-timestamp': timestamp,
        'x-service-signature': `sha256=${signature}`,
        'x-service-delivery': deliveryId,
      },
    });
    await pool.query({
      name: 'log',
      text: `WITH done AS (
           UPDATE delivery SET state = 'successful', attempts = 1, next_attempt_at = NULL, last_attempt_at = $2,
             last_status_code = $4, last_duration_ms = $5 WHERE id = $1 RETURNING id)
         INSERT INTO delivery_attempt (delivery_id, number, at, url, status_code, duration_ms, timings, answer, answer_truncated)
         SELECT id, 1, $2, $3, $4, $5, '{}', '', false FROM done`,
      values: [deliveryId, at, row.url, statusCode, Math.round(performance.now() - start)],
    });
  };
};
