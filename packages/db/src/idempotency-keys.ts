import {
  type AnswerToBind,
  type FindKey,
  IDEMPOTENCY_RETENTION_MS,
  type KeyToBind,
  type RelockKey,
  type StoredAnswer,
} from '@vat/domain';
import type { Queryable } from './connect-database.js';
import { inChunks } from './in-chunks.js';
import { columns, query, selectList, typed } from './query.js';

const KEY = columns({
  fingerprint: 'bytea',
  requestId: 'uuid?',
  lockedUntil: 'timestamptz',
  status: 'int4?',
  headers: typed<Record<string, string> | null>('jsonb?'),
  body: 'bytea?',
});

/** The binding of a key; `null` when the key is free or was bound before `expiredBefore`. */
export const findIdempotencyKey =
  (db: Queryable): FindKey =>
  async (accountId, key, expiredBefore) => {
    const [row] = await query(db, KEY)`
      SELECT ${selectList('k', KEY)} FROM idempotency_key k
      WHERE account_id = ${accountId}::uuid AND key = ${key} AND created_at >= ${expiredBefore}::timestamptz`;
    if (!row) return null;
    const { status, headers, body, ...bound } = row;
    return { ...bound, answer: status && body ? { status, headers: headers ?? {}, body } : null };
  };

/**
 * Binds a key together with its answer, inside the transaction that does the work; false when it is already bound and has
 * not expired. Waits for a concurrent transaction with the same key.
 */
export const bindAnswer =
  (tx: Queryable) =>
  async (accountId: string, { key, fingerprint, expiredBefore, answer }: AnswerToBind, now: Date): Promise<boolean> => {
    const bound = await tx.$executeRaw`
      INSERT INTO idempotency_key (account_id, key, fingerprint, status, headers, body, created_at, locked_until)
      VALUES (${accountId}::uuid, ${key}, ${fingerprint}, ${answer.status}::int, ${JSON.stringify(answer.headers)}::jsonb,
        ${answer.body}, ${now}::timestamptz, ${now}::timestamptz)
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, request_id = NULL,
        status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at,
        locked_until = excluded.locked_until
      WHERE idempotency_key.created_at < ${expiredBefore}::timestamptz`;
    return bound > 0;
  };

/** Binds a key, to a request if there is one; false when it is already bound and has not expired. */
export const bindIdempotencyKey =
  (db: Queryable) =>
  async (binding: KeyToBind & { accountId: string; requestId: string | null; now: Date }): Promise<boolean> => {
    const bound = await db.$executeRaw`
      INSERT INTO idempotency_key (account_id, key, fingerprint, request_id, created_at, locked_until)
      VALUES (${binding.accountId}::uuid, ${binding.key}, ${binding.fingerprint}, ${binding.requestId}::uuid,
        ${binding.now}::timestamptz, ${binding.lockedUntil}::timestamptz)
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, request_id = excluded.request_id,
        created_at = excluded.created_at, locked_until = excluded.locked_until, status = NULL, headers = NULL, body = NULL
      WHERE idempotency_key.created_at < ${binding.expiredBefore}::timestamptz`;
    return bound > 0;
  };

const CHUNK = 5_000;

/** Deletes expired Idempotency-Keys in chunks; returns their number. */
export const deleteExpiredKeys =
  (db: Queryable) =>
  (now: Date): Promise<number> => {
    const before = new Date(now.getTime() - IDEMPOTENCY_RETENTION_MS);
    return inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM idempotency_key WHERE created_at < ${before}::timestamptz AND ctid = ANY(ARRAY(
          SELECT ctid FROM idempotency_key WHERE created_at < ${before}::timestamptz LIMIT ${CHUNK}::int))`,
    );
  };

/** Takes over a key whose first call died; true for exactly one of several concurrent callers. */
export const relockIdempotencyKey =
  (db: Queryable): RelockKey =>
  async (accountId, key, now, lockedUntil) => {
    const taken = await db.$executeRaw`
      UPDATE idempotency_key SET locked_until = ${lockedUntil}::timestamptz
      WHERE account_id = ${accountId}::uuid AND key = ${key} AND status IS NULL AND locked_until <= ${now}::timestamptz`;
    return taken > 0;
  };

/** The answer of a key that has one. */
const ANSWER = columns({ status: 'int4!', headers: typed<Record<string, string>>('jsonb!'), body: 'bytea!' });

/**
 * Stores the first 2xx answer of a key and returns it, to be sent byte for byte by every call with the key. Of two calls that
 * end at once, the second gets the answer of the first. `null` when the key is not bound any more.
 */
export const storeIdempotentAnswer =
  (db: Queryable) =>
  async (accountId: string, key: string, answer: StoredAnswer): Promise<StoredAnswer | null> => {
    const [first] = await query(db, ANSWER)`
      UPDATE idempotency_key SET status = COALESCE(status, ${answer.status}::int),
        headers = COALESCE(headers, ${JSON.stringify(answer.headers)}::jsonb), body = COALESCE(body, ${answer.body}::bytea)
      WHERE account_id = ${accountId}::uuid AND key = ${key}
      RETURNING status, headers, body`;
    return first ?? null;
  };
