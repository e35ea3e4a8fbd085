import type { EndedAs, EndRequest } from '@vat/domain';
import { releaseUnits } from '../account/release-units-sql.js';
import { failLines } from '../batch/end-lines-sql.js';
import type { Queryable } from '../connect-database.js';
import { tellAccount } from '../event-sql.js';
import { Prisma } from '../generated/client.js';
import { releaseWatch } from '../watch/record-watch-sql.js';

/**
 * Ends a request without a check: releases its reservation and the watch whose run it was, fails the lines that waited for it, and writes check.failed if its
 * caller was answered 202. A waiting request is withdrawn and its Idempotency-Key freed, since its caller gets an error and
 * errors are not kept.
 * `null` when it had already ended or its answer had arrived.
 */
export const endRequest =
  (db: Queryable): EndRequest =>
  async ({ requestId, reason, event, deliveryId, now }) => {
    const [row] = await db.$queryRaw<
      { state: EndedAs['state']; delivery_id: string | null; batch_id: string | null }[]
    >`
      WITH gone AS (
        UPDATE request SET state = CASE state WHEN 'waiting' THEN 'withdrawn' ELSE 'abandoned' END, reason = ${reason},
          ended_at = ${now}::timestamptz, asking_since = NULL
        WHERE id = ${requestId}::uuid AND state IN ('waiting', 'pending') AND answer IS NULL
        RETURNING id, account_id, test, state, accepted_at, quota_period
      ), released AS (
        UPDATE usage u SET ${releaseUnits(Prisma.sql`1`)} FROM gone
        WHERE u.account_id = gone.account_id AND u.period = gone.quota_period
      ), unbound AS (
        DELETE FROM idempotency_key k USING gone WHERE k.request_id = gone.id AND gone.accepted_at IS NULL
      ), ${releaseWatch()}, ${failLines(reason)}, ${tellAccount(event, deliveryId, now, Prisma.sql`SELECT id, account_id, test FROM gone WHERE state = 'abandoned' AND accepted_at IS NOT NULL`)}
      SELECT state, (SELECT id FROM sent) AS delivery_id, (SELECT batch_id FROM lines LIMIT 1) AS batch_id
      FROM gone`;
    return row ? { state: row.state, deliveryId: row.delivery_id, batchId: row.batch_id } : null;
  };
