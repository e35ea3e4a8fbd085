import { LINE_ENDINGS } from '@vat/domain';
import { releaseUnits } from '../account/release-units-sql.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

/**
 * Ends requests of batches that are past their end or whose account was disabled: units released, their lines failed, in one
 * statement for up to `limit` lines of each kind, since a disabled account may leave tens of thousands. One whose answer is being
 * written at this moment is left to that. Returns how many requests ended: fewer than `limit` where lines share them, so
 * only 0 says that none is left.
 */
export const endLostLines =
  (db: Queryable) =>
  async (now: Date, limit: number): Promise<number> => {
    const messages = JSON.stringify(Object.values(LINE_ENDINGS));
    const [row] = await db.$queryRaw<{ n: number }[]>`
      WITH late AS (
        SELECT id FROM request
        WHERE state = 'pending' AND origin = 'batch' AND give_up_at < ${now}::timestamptz AND answer IS NULL
        LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
      ), disabled AS (
        -- By the live batches of disabled accounts: they are few, whatever else waits.
        SELECT r.id FROM account a
        JOIN batch b ON b.account_id = a.id AND b.state <> 'completed'
        JOIN batch_line l ON l.batch_id = b.id AND l.status = 'queued'
        CROSS JOIN LATERAL (
          SELECT id FROM request WHERE id = l.request_id AND ended_at IS NULL AND answer IS NULL FOR UPDATE SKIP LOCKED
        ) r
        WHERE a.disabled_at IS NOT NULL LIMIT ${limit}::int
      ), gone AS (
        UPDATE request r SET state = 'abandoned', ended_at = ${now}::timestamptz, asking_since = NULL, reason = lost.reason
        FROM (
          SELECT id, 'ACCOUNT_DISABLED' AS reason FROM disabled
          UNION SELECT id, 'UPSTREAM_NO_ANSWER' FROM late WHERE id NOT IN (SELECT id FROM disabled)
        ) AS lost
        WHERE r.id = lost.id
        RETURNING r.id, r.account_id, r.quota_period, r.reason
      ), released AS (
        UPDATE usage u SET ${releaseUnits(Prisma.sql`units.n`)} FROM (
          SELECT account_id, quota_period, count(*)::int AS n FROM gone WHERE quota_period IS NOT NULL GROUP BY 1, 2
        ) AS units
        WHERE u.account_id = units.account_id AND u.period = units.quota_period
      ), lines AS (
        UPDATE batch_line l SET status = 'failed', error_code = said.code, error_message = said.message
        FROM gone JOIN jsonb_to_recordset(${messages}::jsonb) AS said(code text, message text) ON said.code = gone.reason
        WHERE l.request_id = gone.id AND l.status = 'queued'
      )
      SELECT count(*)::int AS n FROM gone`;
    return row?.n ?? 0;
  };
