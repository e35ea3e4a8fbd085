import {
  type AbandonReason,
  type EndedAs,
  type EndRequest,
  LINE_ENDINGS,
  type Settled,
  type Settlement,
} from '@vat/domain';
import { releaseUnits } from '../account/usage.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { isOneOf, query, typed } from '../query.js';
import { recordWatch, releaseWatch } from '../watch/watch-runs.js';
import { publishToAccount } from '../webhook/events.js';
import { countCheck } from './checks.js';
import { insertExchanges } from './exchanges.js';

/** The CTE `lines`: marks the lines of a request with a check (the CTE `done`) as done. Returns `batch_id`. */
const endLines = (check: { id: string; valid: boolean }): Prisma.Sql => Prisma.sql`
  lines AS (
    UPDATE batch_line l SET status = 'done', check_id = ${check.id}::uuid, valid = ${check.valid}
    FROM done WHERE l.request_id = done.id AND l.status = 'queued'
    RETURNING l.batch_id
  )`;

/** The CTE `lines`: marks the lines of a request that ended without a check (the CTE `gone`) as failed. Returns `batch_id`. */
const failLines = (reason: AbandonReason): Prisma.Sql => Prisma.sql`
  lines AS (
    UPDATE batch_line l SET status = 'failed', error_code = ${LINE_ENDINGS[reason].code},
      error_message = ${LINE_ENDINGS[reason].message}
    FROM gone WHERE l.request_id = gone.id AND l.status = 'queued'
    RETURNING l.batch_id
  )`;

/**
 * Settles a request with a check: the check, its leaf for the next anchor, the unit, the count of the day and the end of the
 * request; the event and its delivery if the request was answered 202; the lines of a batch; the changes of a watch. One
 * statement, atomic and idempotent.
 */
export const settleRequest =
  (db: Queryable) =>
  async (settlement: Settlement): Promise<Settled> => {
    const { lookup, check, event, now, requestId, watch } = settlement;
    const verdict = check.valid ? 'valid' : settlement.consumes ? 'invalid' : 'malformed';
    const withAnswer =
      lookup === undefined
        ? { set: Prisma.empty, where: Prisma.empty }
        : {
            set: Prisma.sql`, answer = ${JSON.stringify(lookup.answer)}::jsonb, attempts = ${lookup.attempts}::int`,
            where: Prisma.sql` AND answer IS NULL AND attempts = ${lookup.expectedAttempts}::int`,
          };
    // The exchange with the upstream is stored even when it ended too late.
    const exchangesOf = lookup === undefined ? Prisma.sql`SELECT id FROM done` : Prisma.sql`SELECT ${requestId}::uuid`;
    const watched =
      watch === undefined
        ? { ctes: Prisma.empty, sent: Prisma.empty }
        : { ctes: Prisma.sql`, ${recordWatch(watch)}`, sent: Prisma.sql` UNION ALL SELECT id FROM watch_sent` };
    const batchLines = settlement.ofBatch
      ? { ctes: Prisma.sql`, ${endLines(check)}`, batch: Prisma.sql`(SELECT batch_id FROM lines LIMIT 1)` }
      : { ctes: Prisma.empty, batch: Prisma.sql`NULL::uuid` };
    const [row] = await query(db, { acceptedAt: 'timestamptz?', deliveryIds: 'uuid[]', batchId: 'uuid?' })`
      WITH done AS (
        UPDATE request SET state = 'completed', ended_at = ${now}::timestamptz, check_id = ${check.id}::uuid,
          entries = ${JSON.stringify(settlement.entries)}::jsonb, asking_since = NULL, last_error = NULL${withAnswer.set}
        WHERE ${isOneOf(Prisma.sql`id`, [requestId])} AND state IN ('waiting', 'pending')${withAnswer.where}
        RETURNING id, account_id, test, accepted_at, quota_period
      ), recorded AS (
        INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, reference, checked_at, body, hash)
        SELECT ${check.id}::uuid, account_id, id, test, ${check.vatNumber}, ${check.valid}, ${check.reference},
          ${check.checkedAt}::timestamptz, ${check.bytes}, ${check.hash}
        FROM done
      ), leaf AS (
        INSERT INTO anchor_leaf (check_id, hash) SELECT ${check.id}::uuid, ${check.hash} FROM done WHERE NOT test
      ), charged AS (
        UPDATE usage u SET ${releaseUnits(Prisma.sql`1`)}, used = u.used + ${settlement.consumes ? 1 : 0}::int
        FROM done WHERE u.account_id = done.account_id AND u.period = done.quota_period
      ), ledger AS (
        INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
        SELECT ${check.id}::uuid, account_id, quota_period, ${now}::timestamptz FROM done
        WHERE quota_period IS NOT NULL AND ${settlement.consumes}
      ), ${countCheck(verdict, check.checkedAt, Prisma.sql`SELECT account_id, test FROM done`)}, exchanged AS (${insertExchanges(settlement.exchanges, exchangesOf)}
      ), ${publishToAccount(event, settlement.deliveryId, now, Prisma.sql`SELECT id, account_id, test FROM done WHERE accepted_at IS NOT NULL`)}${watched.ctes}${batchLines.ctes}
      SELECT accepted_at AS "acceptedAt", ARRAY(SELECT id FROM sent${watched.sent}) AS "deliveryIds",
        ${batchLines.batch} AS "batchId"
      FROM done`;
    return row ?? null;
  };

/**
 * Ends a request without a check: releases its unit and its watch, fails its batch lines, and publishes check.failed if it
 * was answered 202. A waiting request is withdrawn and its Idempotency-Key released, since its caller gets an error, and
 * errors are not stored for replay. `null` when it had already ended or its answer had arrived.
 */
export const endRequest =
  (db: Queryable): EndRequest =>
  async ({ requestId, reason, event, deliveryId, now }) => {
    const [row] = await query(db, { state: typed<EndedAs['state']>('text'), deliveryId: 'uuid?', batchId: 'uuid?' })`
      WITH gone AS (
        UPDATE request SET state = CASE state WHEN 'waiting' THEN 'withdrawn' ELSE 'abandoned' END, reason = ${reason},
          ended_at = ${now}::timestamptz, asking_since = NULL
        WHERE ${isOneOf(Prisma.sql`id`, [requestId])} AND state IN ('waiting', 'pending') AND answer IS NULL
        RETURNING id, account_id, test, state, accepted_at, quota_period, created_at
      ), released AS (
        UPDATE usage u SET ${releaseUnits(Prisma.sql`1`)} FROM gone
        WHERE u.account_id = gone.account_id AND u.period = gone.quota_period
      ), unbound AS (
        DELETE FROM idempotency_key k USING gone WHERE k.request_id = gone.id AND gone.accepted_at IS NULL
      ), ${releaseWatch(now)}, ${failLines(reason)}, ${publishToAccount(event, deliveryId, now, Prisma.sql`SELECT id, account_id, test FROM gone WHERE state = 'abandoned' AND accepted_at IS NOT NULL`)}
      SELECT state, (SELECT id FROM sent) AS "deliveryId", (SELECT batch_id FROM lines LIMIT 1) AS "batchId" FROM gone`;
    return row ?? null;
  };
