import { createHash } from 'node:crypto';
import type { LineLimit, StoredAnswer, UnexpiredKey, UploadRefusal } from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import type { Database, Queryable } from '../connect-database.js';
import { bindIdempotencyKey, findIdempotencyKey, storeIdempotentAnswer } from '../idempotency-keys.js';
import { query } from '../query.js';
import { type Refuse, transact } from '../transaction.js';

/** Runs pieces of work one after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Enough for a few files of ten thousand lines in turn while each of their statements takes half a second. If all of them ended before
 * that, each would be written nearly to its end, and then again for its next call. The time-out of the pool applies to each statement.
 */
const UPLOAD_TIMEOUT_MS = 600_000;

type KeyedUpload = { accountId: string; idempotency: UnexpiredKey | null; createdAt: Date };

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
const lockUploadKey = async (
  tx: Queryable,
  { accountId, idempotency }: KeyedUpload,
  refuse: Refuse<UploadRefusal>,
): Promise<void> => {
  if (idempotency === null) return;
  const lock = createHash('sha256').update(`batch ${accountId} ${idempotency.key}`).digest().readBigInt64BE();
  const [row] = await query(tx, { taken: 'bool' })`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS taken`;
  if (!row?.taken) refuse({ kind: 'key_taken' });
  const bound = await findIdempotencyKey(tx)(accountId, idempotency.key, idempotency.expiredBefore);
  if (bound) refuse({ kind: 'key_taken' });
};

/**
 * Locks the account, which may have been disabled while the file was read and written, and binds the key, which a check may be
 * binding at the same moment. Both precede the usage, as in every transaction (docs/architecture.md, Order of locks).
 */
const lockUpload = async (
  tx: Queryable,
  { accountId, idempotency, createdAt }: KeyedUpload,
  refuse: Refuse<UploadRefusal>,
): Promise<void> => {
  const account = await lockAccount(tx, accountId);
  if (account?.disabled) refuse({ kind: 'account_disabled' });
  if (idempotency === null) return;
  const binding = { ...idempotency, accountId, requestId: null, now: createdAt, lockedUntil: createdAt };
  if (!(await bindIdempotencyKey(tx)(binding))) refuse({ kind: 'key_taken' });
};

/** `lock`: to be called once, after the rows were inserted and before the account's batches, lines and units are counted. */
export type UploadTransaction = { tx: Queryable; refuse: Refuse<UploadRefusal>; lock: () => Promise<void> };

/**
 * Writes an upload in one transaction: admits its Idempotency-Key, runs `write`, and stores the answer with the key. What
 * `refuse` is called with becomes the result, and nothing is written.
 */
export const transactUpload = <Written extends { answer: StoredAnswer }>(
  db: Database,
  upload: KeyedUpload,
  write: (transaction: UploadTransaction) => Promise<Written>,
): Promise<({ kind: 'created' } & Written) | UploadRefusal> =>
  transact<({ kind: 'created' } & Written) | UploadRefusal>(
    db,
    async (tx, refuse) => {
      await lockUploadKey(tx, upload, refuse);
      const written = await write({ tx, refuse, lock: () => lockUpload(tx, upload, refuse) });
      const { accountId, idempotency } = upload;
      if (idempotency !== null) await storeIdempotentAnswer(tx)(accountId, idempotency.key, written.answer);
      return { kind: 'created', ...written };
    },
    { timeout: UPLOAD_TIMEOUT_MS },
  );
