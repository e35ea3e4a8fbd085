import type { NewBatch, NewBatchRequest, NewLine } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/**
 * Of one statement: it takes a small part of a query's time limit, and the process goes on with other work in between. A row
 * may be larger by itself.
 */
const STATEMENT = { rows: 1_000, characters: 400_000 };

/** Rows as JSON arrays of at most {@link STATEMENT}, each written only when it is needed. */
function* jsonSlices<T>(all: readonly T[], write: (row: T) => string): Generator<string> {
  let rows: string[] = [];
  let characters = 0;
  for (const row of all) {
    const text = write(row);
    if (rows.length === STATEMENT.rows || (rows.length > 0 && characters + text.length > STATEMENT.characters)) {
      yield `[${rows.join(',')}]`;
      rows = [];
      characters = 0;
    }
    rows.push(text);
    characters += text.length;
  }
  if (rows.length > 0) yield `[${rows.join(',')}]`;
}

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

/** The cells are JSON already. */
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

/** Writes the rows of a batch: itself, its requests (kept out of Redis until they are fed) and its lines. */
export const insertBatchRows =
  (tx: Queryable) =>
  async (batch: NewBatch): Promise<void> => {
    const { id, accountId, createdAt, header, quota } = batch;
    await tx.$executeRaw`
      INSERT INTO batch (id, account_id, state, label, file_name, requester, header, total, created_at)
      VALUES (${id}::uuid, ${accountId}::uuid, 'queued', ${batch.label}, ${batch.fileName}, ${batch.requester},
        ${header === null ? null : JSON.stringify(header)}::jsonb, ${batch.lines.length}::int, ${createdAt}::timestamptz)`;
    for (const slice of jsonSlices(batch.requests, requestRow))
      await tx.$executeRaw`
        INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, requester,
          reference, entries, answer, created_at, window_ends_at, due_at, give_up_at, quota_period)
        SELECT x.id, ${accountId}::uuid, false, 'batch', false, 'pending', x.input, x.country_code, x.national,
          x.vat_number, x.requester, x.reference, x.entries, x.answer, ${createdAt}::timestamptz,
          ${createdAt}::timestamptz, ${createdAt}::timestamptz, ${batch.giveUpAt}::timestamptz,
          CASE WHEN x.answer IS NULL THEN ${quota.period}::text END
        FROM jsonb_to_recordset(${slice}::jsonb) AS x(id uuid, input text,
          country_code text, national text, vat_number text, requester text, reference text, entries jsonb, answer jsonb)`;
    for (const slice of jsonSlices(batch.lines, lineRow))
      await tx.$executeRaw`
        INSERT INTO batch_line (id, batch_id, line, status, input, vat_number, reference, request_id, error_code,
          error_message, cells)
        SELECT x.id, ${id}::uuid, x.line, CASE WHEN x.error_code IS NULL THEN 'queued' ELSE 'failed' END, x.input,
          x.vat_number, x.reference, x.request_id, x.error_code, x.error_message, x.cells
        FROM jsonb_to_recordset(${slice}::jsonb) AS x(id uuid, line int, input text,
          vat_number text, reference text, request_id uuid, error_code text, error_message text, cells jsonb)`;
  };
