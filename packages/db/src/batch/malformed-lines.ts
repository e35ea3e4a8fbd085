import type { CheckRecord, CheckRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { isOneOf, isSameId, query } from '../query.js';
import { REQUEST, REQUEST_LIST } from '../request/request-row.js';
import { unfinishedSince } from './dispatch-lines.js';

/** Malformed numbers of batches that have no check yet, round robin over the accounts. */
export const findMalformedLines =
  (db: Queryable) =>
  async (limit: number): Promise<CheckRequest[]> => {
    const oldest = await unfinishedSince(db);
    if (oldest === null) return [];
    return query(db, REQUEST)`
      WITH RECURSIVE account_waiting(id) AS (
        (SELECT account_id FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL AND id >= ${oldest}::uuid
          ORDER BY account_id LIMIT 1)
        UNION ALL
        SELECT (SELECT q.account_id FROM request q
          WHERE q.state = 'pending' AND NOT q.fed AND q.answer IS NOT NULL AND q.account_id > account_waiting.id
            AND q.id >= ${oldest}::uuid
          ORDER BY q.account_id LIMIT 1)
        FROM account_waiting WHERE account_waiting.id IS NOT NULL
      ), picked AS (
        SELECT first.id, first.turn FROM account_waiting w CROSS JOIN LATERAL (
          SELECT q.id, row_number() OVER (ORDER BY q.id) AS turn FROM request q
          WHERE q.state = 'pending' AND NOT q.fed AND q.answer IS NOT NULL AND q.account_id = w.id
            AND q.id >= ${oldest}::uuid
          ORDER BY q.id LIMIT ${limit}::int
        ) AS first
        ORDER BY first.turn, first.id LIMIT ${limit}::int
      )
      SELECT ${REQUEST_LIST} FROM picked JOIN request r ON r.id = picked.id JOIN account a ON a.id = r.account_id
      ORDER BY picked.turn, r.id`;
  };

/** The check for a malformed number of a batch. */
export type MalformedLine = { requestId: string; check: CheckRecord };

/** A request that ended with its check, and the batch of its lines. */
type SettledLine = { requestId: string; batchId: string | null };

/** A check as a JSON record, with bytes in base64. */
const record = ({ requestId, check }: MalformedLine) => ({
  request_id: requestId,
  id: check.id,
  vat_number: check.vatNumber,
  reference: check.reference,
  checked_at: check.checkedAt.toISOString(),
  body: Buffer.from(check.bytes).toString('base64'),
  hash: Buffer.from(check.hash).toString('base64'),
});

/**
 * Settles many malformed numbers of batches in one statement. They have no unit, no event and no watch, so each settlement
 * consists of the check, its leaf for the next anchor, the count of the day, the end of the request and its lines. The
 * statement is atomic and idempotent. Returns the requests that it ended; skips those that another process is ending. All
 * such statements lock rows in the same order. Requests are selected by an array, since a join would scan all waiting
 * requests for each of them.
 */
export const settleMalformedLines =
  (db: Queryable) =>
  async (lines: readonly MalformedLine[], now: Date): Promise<SettledLine[]> => {
    const ids = lines.map(({ requestId }) => requestId);
    return query(db, { requestId: 'uuid', batchId: 'uuid?' })`
      WITH given AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(lines.map(record))}::jsonb) AS x(request_id uuid, id uuid,
          vat_number text, reference text, checked_at timestamptz, body text, hash text)
      ), free AS MATERIALIZED (
        SELECT r.id FROM request r
        WHERE ${isOneOf(Prisma.sql`r.id`, ids)} AND r.state = 'pending'
          AND r.origin = 'batch' AND NOT r.test AND r.quota_period IS NULL AND r.answer ->> 'verdict' = 'malformed'
        ORDER BY r.id FOR UPDATE SKIP LOCKED
      ), done AS (
        UPDATE request r SET state = 'completed', ended_at = ${now}::timestamptz, check_id = given.id, asking_since = NULL,
          last_error = NULL
        FROM given WHERE ${isSameId(Prisma.sql`r.id`, Prisma.sql`given.request_id`)} AND r.id = ANY(ARRAY(SELECT id FROM free))
          AND ${isOneOf(Prisma.sql`r.id`, ids)}
        RETURNING r.id AS request_id, r.account_id, given.id, given.vat_number, given.reference, given.checked_at,
          given.body, given.hash
      ), recorded AS (
        INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, reference, checked_at, body, hash)
        SELECT id, account_id, request_id, false, vat_number, false, reference, checked_at, decode(body, 'base64'),
          decode(hash, 'base64')
        FROM done
      ), leaf AS (
        INSERT INTO anchor_leaf (check_id, hash) SELECT id, decode(hash, 'base64') FROM done
      ), counted AS (
        INSERT INTO check_day AS d (account_id, day, valid, invalid, malformed)
        SELECT account_id, (checked_at AT TIME ZONE 'UTC')::date AS day, 0, 0, count(*)::int FROM done
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (account_id, day) DO UPDATE SET malformed = d.malformed + EXCLUDED.malformed
      ), ended AS (
        UPDATE batch_line l SET status = 'done', check_id = done.id, valid = false
        FROM done WHERE l.request_id = done.request_id AND l.status = 'queued'
        RETURNING l.request_id, l.batch_id
      )
      SELECT DISTINCT done.request_id AS "requestId", ended.batch_id AS "batchId" FROM done LEFT JOIN ended USING (request_id)`;
  };
