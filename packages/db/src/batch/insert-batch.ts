import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BatchInsertion, InsertBatch, NewBatch, NewBatchRequest, NewLine } from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import { reserveUnits } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { bindAnswer, findIdempotencyKey } from '../idempotency-keys.js';
import { query } from '../query.js';
import { type Refuse, transact } from '../transaction.js';
import { completeBatches } from './end-lines.js';

/** Runs pieces of work one after the other. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Inserts a batch, its requests (which get a job only when they are dispatched) and its lines. */
const insertBatchRows =
  (tx: Queryable, inTurn: InTurn) =>
  async (batch: NewBatch): Promise<void> => {
    const { id, accountId, createdAt, header, quota } = batch;
    await tx.$executeRaw`
      INSERT INTO batch (id, account_id, state, label, file_name, requester, header, total, created_at)
      VALUES (${id}::uuid, ${accountId}::uuid, 'queued', ${batch.label}, ${batch.fileName}, ${batch.requester},
        ${header === null ? null : JSON.stringify(header)}::jsonb, ${batch.counts.lines}::int, ${createdAt}::timestamptz)`;
    for (const text of batch.requests)
      await inTurn(
        () => tx.$executeRaw`
        INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, requester,
          reference, entries, answer, created_at, window_ends_at, due_at, give_up_at, quota_period)
        SELECT x.id, ${accountId}::uuid, false, 'batch', false, 'pending', x.input, x."memberState", x.national,
          x."vatNumber", x.requester, x.reference, x.entries, x.answer, ${createdAt}::timestamptz,
          ${createdAt}::timestamptz, ${createdAt}::timestamptz, ${batch.giveUpAt}::timestamptz,
          CASE WHEN x.answer IS NULL THEN ${quota.period}::text END
        FROM jsonb_to_recordset(${text}::jsonb) AS x(id uuid, input text,
          "memberState" text, national text, "vatNumber" text, requester text, reference text, entries jsonb, answer jsonb)`,
      );
    for (const text of batch.lines)
      await inTurn(
        () => tx.$executeRaw`
        INSERT INTO batch_line (id, batch_id, line, status, input, vat_number, reference, request_id, error_code,
          error_message, cells)
        SELECT x.id, ${id}::uuid, x.line, CASE WHEN x.error IS NULL THEN 'queued' ELSE 'failed' END, x.input,
          x."vatNumber", x.reference, x."requestId", x.error ->> 'code', x.error ->> 'message', x."cellsJson"::jsonb
        FROM jsonb_to_recordset(${text}::jsonb) AS x(id uuid, line int, input text,
          "vatNumber" text, reference text, "requestId" uuid, error jsonb, "cellsJson" text)`,
      );
  };

/** Enough for a few files of ten thousand lines in turn, on a busy machine. The time-out of the pool applies to each statement. */
const TRANSACTION_TIMEOUT_MS = 60_000;

const countActive = async (tx: Queryable, accountId: string, exceptId: string): Promise<number> => {
  const [row] = await query(tx, { n: 'int4' })`
    SELECT count(*)::int AS n FROM batch
    WHERE account_id = ${accountId}::uuid AND state <> 'completed' AND id <> ${exceptId}::uuid`;
  return row?.n ?? 0;
};

/**
 * Refuses the batch when its lines and those that the account uploaded since `lineLimit.since` exceed the limit. `freedBy` is
 * the time of the upload whose expiry makes enough room. Deleted batches count too.
 */
const refuseTooManyLines = async (
  tx: Queryable,
  { accountId, counts, lineLimit }: NewBatch,
  refuse: Refuse<BatchInsertion>,
): Promise<void> => {
  const over = counts.lines - lineLimit.max;
  const [freed] = await query(tx, { created_at: 'timestamptz' })`
    SELECT x.created_at FROM (
      SELECT created_at, sum(lines) OVER (ORDER BY created_at, id) AS left_by, sum(lines) OVER () AS uploaded
      FROM batch_upload WHERE account_id = ${accountId}::uuid AND created_at > ${lineLimit.since}::timestamptz
    ) x WHERE x.uploaded + ${over}::int > 0 AND x.left_by >= x.uploaded + ${over}::int
    ORDER BY x.left_by LIMIT 1`;
  if (freed) refuse({ kind: 'too_many_lines', freedBy: freed.created_at });
};

/** Records the number of uploaded lines, and deletes the account's uploads that no longer count. */
const recordUpload = async (
  tx: Queryable,
  { id, accountId, counts, createdAt, lineLimit }: NewBatch,
): Promise<void> => {
  await tx.$executeRaw`
    DELETE FROM batch_upload
    WHERE account_id = ${accountId}::uuid AND created_at <= ${lineLimit.since}::timestamptz`;
  await tx.$executeRaw`
    INSERT INTO batch_upload (id, account_id, lines, created_at)
    VALUES (${id}::uuid, ${accountId}::uuid, ${counts.lines}::int, ${createdAt}::timestamptz)`;
};

/** Admits one upload per key at a time; a concurrent one is refused at once, before it writes ten thousand lines. */
const lockKey = async (
  tx: Queryable,
  { accountId, idempotency }: NewBatch,
  refuse: Refuse<BatchInsertion>,
): Promise<void> => {
  if (idempotency === null) return;
  const lock = createHash('sha256').update(`batch ${accountId} ${idempotency.key}`).digest().readBigInt64BE();
  const [row] = await query(tx, { taken: 'bool' })`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS taken`;
  if (!row?.taken) refuse({ kind: 'key_taken' });
  const bound = await findIdempotencyKey(tx)(accountId, idempotency.key, idempotency.expiredBefore);
  if (bound) refuse({ kind: 'key_taken' });
};

/** Rewrites the rows of each text, one text a turn of the event loop. */
const rewrite = async <Row extends object>(
  texts: readonly string[],
  rows: (all: Row[]) => Row[],
): Promise<string[]> => {
  const rewritten: string[] = [];
  for (const text of texts) {
    rewritten.push(JSON.stringify(rows(JSON.parse(text) as Row[])));
    await nextTurn();
  }
  return rewritten;
};

type WithinQuota = Pick<NewBatch, 'lines' | 'requests' | 'counts'> & { beyond: string[] };

/** Applies `units` to the requests in the order of the file. Requests beyond the quota are removed, and their lines fail. */
const applyQuota = async (batch: NewBatch, units: number): Promise<WithinQuota> => {
  const { counts, overQuota } = batch;
  if (counts.costing <= units) return { ...batch, beyond: [] };
  let left = units;
  let failed = counts.failed;
  const beyond = new Set<string>();
  const isWithin = ({ id, answer }: NewBatchRequest): boolean => {
    if (answer !== null) return true;
    left -= 1;
    if (left < 0) beyond.add(id);
    return left >= 0;
  };
  const lineWithin = (line: NewLine): NewLine => {
    if (line.requestId === null || !beyond.has(line.requestId)) return line;
    failed += 1;
    return { ...line, requestId: null, error: overQuota };
  };
  const requests = await rewrite<NewBatchRequest>(batch.requests, (rows) => rows.filter(isWithin));
  const lines = await rewrite<NewLine>(batch.lines, (rows) => rows.map(lineWithin));
  return { lines, requests, counts: { ...counts, failed, costing: units }, beyond: [...beyond] };
};

/** Deletes requests that turned out to be beyond the quota, and fails their lines. */
const dropBeyond = async (tx: Queryable, batch: NewBatch, beyond: string[]): Promise<void> => {
  if (beyond.length === 0) return;
  await tx.$executeRaw`
    UPDATE batch_line SET status = 'failed', request_id = NULL, error_code = ${batch.overQuota.code},
      error_message = ${batch.overQuota.message}
    WHERE request_id = ANY(${beyond}::uuid[])`;
  await tx.$executeRaw`DELETE FROM request WHERE id = ANY(${beyond}::uuid[])`;
};

/**
 * Writes a batch with its lines and requests in one transaction, with its Idempotency-Key and the answer to replay. The rows
 * are inserted first and the locks are taken last (the row of the account for the count of active batches, then its usage),
 * so that a large file does not delay the direct checks of the account. `rowsInTurn` runs the statements that insert rows: one at
 * a time in a process, whatever the number of files, so that they leave the processors of Postgres to direct checks.
 */
export const insertBatch =
  (db: Database, rowsInTurn: InTurn = (work) => work()): InsertBatch =>
  async (batch) => {
    const { id, accountId, createdAt } = batch;
    return transact<BatchInsertion>(
      db,
      async (tx, refuse) => {
        await lockKey(tx, batch, refuse);
        // A cheap check that is nearly always correct; it is repeated under the lock.
        const before = await countActive(tx, accountId, id);
        if (before >= batch.maxActive) refuse({ kind: 'too_many_batches', active: before });
        await refuseTooManyLines(tx, batch, refuse);

        const [usage] = await query(tx, { taken: 'int4' })`
            SELECT used + reserved AS taken FROM usage
            WHERE account_id = ${accountId}::uuid AND period = ${batch.quota.period}`;
        const covered = await applyQuota(batch, Math.max(0, batch.quota.limit - (usage?.taken ?? 0)));
        await insertBatchRows(tx, rowsInTurn)({ ...batch, ...covered });

        await lockAccount(tx, accountId);
        const active = await countActive(tx, accountId, id);
        if (active >= batch.maxActive) refuse({ kind: 'too_many_batches', active });
        await refuseTooManyLines(tx, batch, refuse);
        await recordUpload(tx, batch);
        const granted = await reserveUnits(tx)({ accountId, ...batch.quota, wanted: covered.counts.costing });
        const final = await applyQuota({ ...batch, ...covered }, granted);
        await dropBeyond(tx, batch, final.beyond);

        const { failed, lines: total } = final.counts;
        const [completed] = failed === total ? await completeBatches(tx)([id], createdAt) : [];
        const created = {
          id,
          status: completed ? ('completed' as const) : ('queued' as const),
          label: batch.label,
          fileName: batch.fileName,
          total,
          done: 0,
          failed,
          valid: 0,
          invalid: 0,
          createdAt,
          completedAt: completed ? createdAt : null,
        };
        const answer = batch.answerOf(created);
        if (batch.idempotency !== null) {
          const bound = await bindAnswer(tx)(accountId, { ...batch.idempotency, answer }, createdAt);
          if (!bound) refuse({ kind: 'key_taken' });
        }
        return { kind: 'created', batch: created, answer, deliveryId: completed?.deliveryId ?? null };
      },
      { timeout: TRANSACTION_TIMEOUT_MS },
    );
  };
