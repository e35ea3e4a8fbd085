import type {
  Batch,
  BatchInsertion,
  BatchRows,
  InsertBatch,
  NewBatchRequest,
  NewLine,
  UploadRefusal,
} from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import { reserveUnits } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { query } from '../query.js';
import { type Refuse, transact } from '../transaction.js';
import { completeBatches } from './end-lines.js';
import {
  bindUpload,
  type InTurn,
  jsonChunks,
  lockUploadKey,
  recordUpload,
  refuseTooManyLines,
  UPLOAD_TIMEOUT_MS,
  type Upload,
} from './uploads.js';

const requestRow = (request: NewBatchRequest): string =>
  JSON.stringify({
    id: request.id,
    input: request.input,
    country_code: request.memberState,
    national: request.national,
    vat_number: request.vatNumber,
    requester: request.requester,
    reference: request.reference,
    entries: request.entries,
    answer: request.answer,
  });

/** Appends the cells, which are JSON already. */
const lineRow = (line: NewLine): string => {
  const row = JSON.stringify({
    id: line.id,
    line: line.line,
    input: line.input,
    vat_number: line.vatNumber,
    reference: line.reference,
    request_id: line.requestId,
    error_code: line.error?.code ?? null,
    error_message: line.error?.message ?? null,
  });
  return `${row.slice(0, -1)},"cells":${line.cellsJson}}`;
};

/** Inserts a batch, its requests (which get a job only when they are dispatched) and its lines. */
const insertBatchRows =
  (tx: Queryable, inTurn: InTurn) =>
  async (batch: BatchRows): Promise<void> => {
    const { id, accountId, createdAt, header, quota } = batch;
    await tx.$executeRaw`
      INSERT INTO batch (id, account_id, state, label, file_name, requester, header, total, created_at)
      VALUES (${id}::uuid, ${accountId}::uuid, 'queued', ${batch.label}, ${batch.fileName}, ${batch.requester},
        ${header === null ? null : JSON.stringify(header)}::jsonb, ${batch.lines.length}::int, ${createdAt}::timestamptz)`;
    for (const chunk of jsonChunks(batch.requests, requestRow))
      await inTurn(
        () => tx.$executeRaw`
        INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, requester,
          reference, entries, answer, created_at, window_ends_at, due_at, give_up_at, quota_period)
        SELECT x.id, ${accountId}::uuid, false, 'batch', false, 'pending', x.input, x.country_code, x.national,
          x.vat_number, x.requester, x.reference, x.entries, x.answer, ${createdAt}::timestamptz,
          ${createdAt}::timestamptz, ${createdAt}::timestamptz, ${batch.giveUpAt}::timestamptz,
          CASE WHEN x.answer IS NULL THEN ${quota.period}::text END
        FROM jsonb_to_recordset(${chunk}::jsonb) AS x(id uuid, input text,
          country_code text, national text, vat_number text, requester text, reference text, entries jsonb, answer jsonb)`,
      );
    for (const chunk of jsonChunks(batch.lines, lineRow))
      await inTurn(
        () => tx.$executeRaw`
        INSERT INTO batch_line (id, batch_id, line, status, input, vat_number, reference, request_id, error_code,
          error_message, cells)
        SELECT x.id, ${id}::uuid, x.line, CASE WHEN x.error_code IS NULL THEN 'queued' ELSE 'failed' END, x.input,
          x.vat_number, x.reference, x.request_id, x.error_code, x.error_message, x.cells
        FROM jsonb_to_recordset(${chunk}::jsonb) AS x(id uuid, line int, input text,
          vat_number text, reference text, request_id uuid, error_code text, error_message text, cells jsonb)`,
      );
  };

const countActive = async (tx: Queryable, accountId: string, exceptId: string): Promise<number> => {
  const [row] = await query(tx, { n: 'int4' })`
    SELECT count(*)::int AS n FROM batch
    WHERE account_id = ${accountId}::uuid AND state <> 'completed' AND id <> ${exceptId}::uuid`;
  return row?.n ?? 0;
};

/** Applies `units` to the requests in the order of the file. Requests beyond the quota are removed, and their lines fail. */
const applyQuota = (
  batch: BatchRows,
  units: number,
): { lines: NewLine[]; requests: NewBatchRequest[]; beyond: string[] } => {
  const costing = batch.requests.filter((request) => request.answer === null);
  const beyond = new Set(costing.slice(units).map((request) => request.id));
  if (beyond.size === 0) return { lines: batch.lines, requests: batch.requests, beyond: [] };
  return {
    lines: batch.lines.map((line) =>
      line.requestId !== null && beyond.has(line.requestId)
        ? { ...line, requestId: null, error: batch.overQuota }
        : line,
    ),
    requests: batch.requests.filter((request) => !beyond.has(request.id)),
    beyond: [...beyond],
  };
};

/** Deletes requests that turned out to be beyond the quota, and fails their lines. */
const dropBeyond = async (tx: Queryable, batch: BatchRows, beyond: string[]): Promise<void> => {
  if (beyond.length === 0) return;
  await tx.$executeRaw`
    UPDATE batch_line SET status = 'failed', request_id = NULL, error_code = ${batch.overQuota.code},
      error_message = ${batch.overQuota.message}
    WHERE request_id = ANY(${beyond}::uuid[])`;
  await tx.$executeRaw`DELETE FROM request WHERE id = ANY(${beyond}::uuid[])`;
};

/** The limit of `batch.lineLimit`, if it has one. */
const limitedUpload = (batch: BatchRows): Upload[] =>
  batch.lineLimit === null ? [] : [{ ...batch, lineLimit: batch.lineLimit }];

/**
 * Writes a batch with its lines and requests within a transaction. The rows are inserted first and the locks are taken last
 * (the row of the account for the count of active batches, then its usage), so that a large file does not delay the direct
 * checks of the account. `deliveryId`: of batch.completed, when nothing can be looked up.
 */
export const writeBatch = async (
  tx: Queryable,
  batch: BatchRows,
  { refuse, inTurn }: { refuse: Refuse<UploadRefusal>; inTurn: InTurn },
): Promise<{ batch: Batch; deliveryId: string | null }> => {
  const { id, accountId, createdAt } = batch;
  // A cheap check that is nearly always correct; it is repeated under the lock.
  const before = await countActive(tx, accountId, id);
  if (before >= batch.maxActive) refuse({ kind: 'too_many_batches', active: before });
  for (const upload of limitedUpload(batch)) await refuseTooManyLines(tx, upload, refuse);

  const [usage] = await query(tx, { taken: 'int4' })`
      SELECT used + reserved AS taken FROM usage
      WHERE account_id = ${accountId}::uuid AND period = ${batch.quota.period}`;
  const covered = applyQuota(batch, Math.max(0, batch.quota.limit - (usage?.taken ?? 0)));
  await insertBatchRows(tx, inTurn)({ ...batch, ...covered });

  await lockAccount(tx, accountId);
  const active = await countActive(tx, accountId, id);
  if (active >= batch.maxActive) refuse({ kind: 'too_many_batches', active });
  for (const upload of limitedUpload(batch)) {
    await refuseTooManyLines(tx, upload, refuse);
    await recordUpload(tx, upload);
  }
  const costing = covered.requests.filter((request) => request.answer === null).length;
  const granted = await reserveUnits(tx)({ accountId, ...batch.quota, wanted: costing });
  const final = applyQuota({ ...batch, ...covered }, granted);
  await dropBeyond(tx, batch, final.beyond);

  const failed = final.lines.filter((line) => line.error !== null).length;
  const [completed] = failed === final.lines.length ? await completeBatches(tx)([id], createdAt) : [];
  const written = {
    id,
    status: completed ? ('completed' as const) : ('queued' as const),
    label: batch.label,
    fileName: batch.fileName,
    total: final.lines.length,
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
 * `rowsInTurn` runs the statements that insert rows: one at a time in a process, whatever the number of files, so that they
 * leave the processors of Postgres to direct checks.
 */
export const insertBatch =
  (db: Database, rowsInTurn: InTurn = (work) => work()): InsertBatch =>
  async (batch) =>
    transact<BatchInsertion>(
      db,
      async (tx, refuse) => {
        await lockUploadKey(tx, batch, refuse);
        const written = await writeBatch(tx, batch, { refuse, inTurn: rowsInTurn });
        const answer = batch.answerOf(written.batch);
        await bindUpload(tx, batch, answer, refuse);
        return { kind: 'created', ...written, answer };
      },
      { timeout: UPLOAD_TIMEOUT_MS },
    );
