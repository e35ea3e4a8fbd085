import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, BatchRows, InsertBatch, NewBatchRequest, NewLine } from '@vat/domain';
import { reserveUnits } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { isOneOf, query } from '../query.js';
import { completeBatches } from './end-lines.js';
import {
  type InTurn,
  recordUpload,
  refuseTooManyLines,
  transactUpload,
  type Upload,
  type UploadTransaction,
} from './uploads.js';

/** Inserts a batch, its requests (which get a job only when they are dispatched) and its lines. */
const insertBatchRows =
  (tx: Queryable, inTurn: InTurn) =>
  async (batch: BatchRows): Promise<void> => {
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
          x."vatNumber", x.reference, x."requestId", x.error ->> 'code', x.error ->> 'message', x.cells
        FROM jsonb_to_recordset(${text}::jsonb) AS x(id uuid, line int, input text,
          "vatNumber" text, reference text, "requestId" uuid, error jsonb, cells jsonb)`,
      );
  };

const countActive = async (tx: Queryable, accountId: string, exceptId: string): Promise<number> => {
  const [row] = await query(tx, { n: 'int4' })`
    SELECT count(*)::int AS n FROM batch
    WHERE account_id = ${accountId}::uuid AND state <> 'completed' AND id <> ${exceptId}::uuid`;
  return row?.n ?? 0;
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

type WithinQuota = Pick<BatchRows, 'lines' | 'requests' | 'counts'> & { beyond: string[] };

/** Applies `units` to the requests in the order of the file. Requests beyond the quota are removed, and their lines fail. */
const applyQuota = async (batch: BatchRows, units: number): Promise<WithinQuota> => {
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
const dropBeyond = async (tx: Queryable, batch: BatchRows, beyond: string[]): Promise<void> => {
  if (beyond.length === 0) return;
  await tx.$executeRaw`
    UPDATE batch_line SET status = 'failed', request_id = NULL, error_code = ${batch.overQuota.code},
      error_message = ${batch.overQuota.message}
    WHERE request_id = ANY(${beyond}::uuid[])`;
  await tx.$executeRaw`DELETE FROM request WHERE ${isOneOf(Prisma.sql`id`, beyond)}`;
};

const limitedUpload = (batch: BatchRows): Upload[] =>
  batch.lineLimit === null ? [] : [{ ...batch, lineCount: batch.counts.lines, lineLimit: batch.lineLimit }];

/**
 * Writes a batch with its lines and requests within a transaction. The rows are inserted first and the locks are taken last
 * (the row of the account for the count of active batches, then its usage), so that a large file does not delay the direct
 * checks of the account. `deliveryId`: of batch.completed, when nothing can be looked up.
 */
export const writeBatch = async (
  { tx, refuse, lock }: UploadTransaction,
  batch: BatchRows,
  inTurn: InTurn,
): Promise<{ batch: Batch; deliveryId: string | null }> => {
  const { id, accountId, createdAt } = batch;
  // A cheap check that is nearly always correct; it is repeated under the lock.
  const before = await countActive(tx, accountId, id);
  if (before >= batch.maxActive) refuse({ kind: 'too_many_batches', active: before });
  for (const upload of limitedUpload(batch)) await refuseTooManyLines(tx, upload, refuse);

  const [usage] = await query(tx, { taken: 'int4' })`
      SELECT used + reserved AS taken FROM usage
      WHERE account_id = ${accountId}::uuid AND period = ${batch.quota.period}`;
  const covered = await applyQuota(batch, Math.max(0, batch.quota.limit - (usage?.taken ?? 0)));
  await insertBatchRows(tx, inTurn)({ ...batch, ...covered });

  await lock();
  const active = await countActive(tx, accountId, id);
  if (active >= batch.maxActive) refuse({ kind: 'too_many_batches', active });
  for (const upload of limitedUpload(batch)) {
    await refuseTooManyLines(tx, upload, refuse);
    await recordUpload(tx, upload);
  }
  const granted = await reserveUnits(tx)({ accountId, ...batch.quota, wanted: covered.counts.costing });
  const final = await applyQuota({ ...batch, ...covered }, granted);
  await dropBeyond(tx, batch, final.beyond);

  const { failed, lines: total } = final.counts;
  const [completed] = failed === total ? await completeBatches(tx)([id], createdAt) : [];
  const written = {
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
  return { batch: written, deliveryId: completed?.deliveryId ?? null };
};

/**
 * Writes a batch with its lines and requests in one transaction, with its Idempotency-Key and the answer to replay.
 * `rowsInTurn` runs the statements that insert rows: one at a time in a process and with pauses, whatever the number of files,
 * so that they leave the processors of Postgres to direct checks.
 */
export const insertBatch =
  (db: Database, rowsInTurn: InTurn = (work) => work()): InsertBatch =>
  (batch) =>
    transactUpload(db, batch, async (transaction) => {
      const written = await writeBatch(transaction, batch, rowsInTurn);
      return { ...written, answer: batch.answerOf(written.batch) };
    });
