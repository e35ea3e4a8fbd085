import { createHash } from 'node:crypto';
import type { LineLimit, StoredAnswer, UnexpiredKey, UploadRefusal } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { bindAnswer, findIdempotencyKey } from '../idempotency-keys.js';
import { query } from '../query.js';
import type { Refuse } from '../transaction.js';

/** Runs pieces of work one after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Enough for a few files of ten thousand lines in turn, on a busy machine. The time-out of the pool applies to each statement. */
export const UPLOAD_TIMEOUT_MS = 60_000;

/** An upload whose lines count. */
export type Upload = {
  id: string;
  accountId: string;
  lineCount: number;
  createdAt: Date;
  lineLimit: LineLimit;
};

/**
 * Refuses the upload when its lines and those that the account uploaded since `lineLimit.since` exceed the limit. `freedBy` is
 * the time of the upload whose expiry makes enough room. Deleted batches count too.
 */
export const refuseTooManyLines = async (
  tx: Queryable,
  { accountId, lineCount, lineLimit }: Upload,
  refuse: Refuse<UploadRefusal>,
): Promise<void> => {
  const over = lineCount - lineLimit.max;
  const [freed] = await query(tx, { created_at: 'timestamptz' })`
    SELECT x.created_at FROM (
      SELECT created_at, sum(lines) OVER (ORDER BY created_at, id) AS left_by, sum(lines) OVER () AS uploaded
      FROM batch_upload WHERE account_id = ${accountId}::uuid AND created_at > ${lineLimit.since}::timestamptz
    ) x WHERE x.uploaded + ${over}::int > 0 AND x.left_by >= x.uploaded + ${over}::int
    ORDER BY x.left_by LIMIT 1`;
  if (freed) refuse({ kind: 'too_many_lines', freedBy: freed.created_at });
};

/** Records the number of uploaded lines, and deletes the account's uploads that no longer count. */
export const recordUpload = async (
  tx: Queryable,
  { id, accountId, lineCount, createdAt, lineLimit }: Upload,
): Promise<void> => {
  await tx.$executeRaw`
    DELETE FROM batch_upload
    WHERE account_id = ${accountId}::uuid AND created_at <= ${lineLimit.since}::timestamptz`;
  await tx.$executeRaw`
    INSERT INTO batch_upload (id, account_id, lines, created_at)
    VALUES (${id}::uuid, ${accountId}::uuid, ${lineCount}::int, ${createdAt}::timestamptz)`;
};

/** Admits one upload per key at a time; a concurrent one is refused at once, before it writes ten thousand lines. */
export const lockUploadKey = async (
  tx: Queryable,
  { accountId, idempotency }: { accountId: string; idempotency: UnexpiredKey | null },
  refuse: Refuse<UploadRefusal>,
): Promise<void> => {
  if (idempotency === null) return;
  const lock = createHash('sha256').update(`batch ${accountId} ${idempotency.key}`).digest().readBigInt64BE();
  const [row] = await query(tx, { taken: 'bool' })`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS taken`;
  if (!row?.taken) refuse({ kind: 'key_taken' });
  const bound = await findIdempotencyKey(tx)(accountId, idempotency.key, idempotency.expiredBefore);
  if (bound) refuse({ kind: 'key_taken' });
};

/** Binds the key of an upload with its answer. */
export const bindUpload = async (
  tx: Queryable,
  { accountId, idempotency, createdAt }: { accountId: string; idempotency: UnexpiredKey | null; createdAt: Date },
  answer: StoredAnswer,
  refuse: Refuse<UploadRefusal>,
): Promise<void> => {
  if (idempotency === null) return;
  const bound = await bindAnswer(tx)(accountId, { ...idempotency, answer }, createdAt);
  if (!bound) refuse({ kind: 'key_taken' });
};
