import type {
  DueStamp,
  FindCheckStamp,
  FindPendingStamp,
  FindToken,
  RecordStamp,
  RequestStamp,
  RequestStampForCheck,
  Stamp,
  StampCursor,
  StampFacts,
  StampKind,
} from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { NIL } from '../uuid-bounds.js';

/** The facts of a row of `stamp`; all null while it is pending. */
export type FactsRow = {
  gen_time: Date | null;
  accuracy_ms: number | null;
  serial: string | null;
  policy: string | null;
  authority: string | null;
  development: boolean | null;
};

/** A row of `stamp` (as `s`) without its token. */
export type StampRow = FactsRow & {
  subject_id: string;
  kind: StampKind;
  account_id: string | null;
  requested_at: Date;
  attempts: number;
  next_attempt_at: Date | null;
  last_error: string | null;
};

export const FACTS_COLUMNS = Prisma.sql`s.gen_time, s.accuracy_ms, s.serial, s.policy, s.authority, s.development`;
export const STAMP_COLUMNS = Prisma.sql`s.subject_id, s.kind, s.account_id, s.requested_at, s.attempts, s.next_attempt_at,
  s.last_error, ${FACTS_COLUMNS}`;

/** The facts of a row's token; null while it is pending. */
export const factsOfRow = (row: FactsRow): StampFacts | null =>
  row.gen_time === null
    ? null
    : {
        genTime: row.gen_time,
        accuracyMs: row.accuracy_ms,
        serial: row.serial ?? '',
        policy: row.policy ?? '',
        authority: row.authority ?? '',
        development: row.development ?? false,
      };

export const stampOfRow = (row: StampRow): Stamp => ({
  subjectId: row.subject_id,
  kind: row.kind,
  accountId: row.account_id,
  requestedAt: row.requested_at,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at,
  lastError: row.last_error,
  facts: factsOfRow(row),
});

/** The stamp of an account's check. */
export const findCheckStamp =
  (db: Queryable): FindCheckStamp =>
  async (checkId, accountId) => {
    const [row] = await db.$queryRaw<StampRow[]>`
      SELECT ${STAMP_COLUMNS} FROM stamp s WHERE s.subject_id = ${checkId}::uuid AND s.account_id = ${accountId}::uuid`;
    return row ? stampOfRow(row) : null;
  };

/** The token of an account's check or, without an account, of an anchor. */
export const findToken =
  (db: Queryable): FindToken =>
  async (subjectId, accountId) => {
    const [row] = await db.$queryRaw<{ token: Uint8Array }[]>`
      SELECT token FROM stamp WHERE subject_id = ${subjectId}::uuid AND account_id IS NOT DISTINCT FROM ${accountId}::uuid
        AND token IS NOT NULL`;
    return row?.token ?? null;
  };

type PendingRow = {
  kind: StampKind;
  account_id: string | null;
  requested_at: Date;
  attempts: number;
  data: Uint8Array;
};

/** A pending time-stamp with the bytes to stamp; null when there is none, or when its check was deleted. */
export const findPendingStamp =
  (db: Queryable): FindPendingStamp =>
  async (subjectId) => {
    const [row] = await db.$queryRaw<PendingRow[]>`
      SELECT s.kind, s.account_id, s.requested_at, s.attempts, COALESCE(c.body, a.body) AS data
      FROM stamp s LEFT JOIN "check" c ON s.kind = 'check' AND c.id = s.subject_id
        LEFT JOIN anchor a ON s.kind = 'anchor' AND a.id = s.subject_id
      WHERE s.subject_id = ${subjectId}::uuid AND s.token IS NULL AND COALESCE(c.body, a.body) IS NOT NULL`;
    if (!row) return null;
    const { kind, account_id: accountId, requested_at: requestedAt, attempts, data } = row;
    return { subjectId, kind, accountId, requestedAt, attempts, data };
  };

/** Records the outcome of an attempt. False, without a change, when the stamp exists or another attempt was recorded first. */
export const recordStamp =
  (db: Queryable): RecordStamp =>
  async ({ subjectId, attempts }, outcome) => {
    if (outcome.kind === 'failed') {
      const counted = outcome.counts ? 1 : 0;
      const failed = await db.$executeRaw`
        UPDATE stamp SET attempts = attempts + ${counted}::int, next_attempt_at = ${outcome.nextAttemptAt}::timestamptz,
          last_error = ${outcome.error}
        WHERE subject_id = ${subjectId}::uuid AND token IS NULL AND attempts = ${attempts}::int`;
      return failed > 0;
    }
    const { token, facts } = outcome;
    const stamped = await db.$executeRaw`
      UPDATE stamp SET attempts = attempts + 1, next_attempt_at = NULL, last_error = NULL, token = ${token},
        gen_time = ${facts.genTime}::timestamptz, accuracy_ms = ${facts.accuracyMs}::int, serial = ${facts.serial},
        policy = ${facts.policy}, authority = ${facts.authority}, development = ${facts.development}
      WHERE subject_id = ${subjectId}::uuid AND token IS NULL AND attempts = ${attempts}::int`;
    return stamped > 0;
  };

/** Creates the pending time-stamp of an account's live check, unless it exists; null when there is no such check. */
export const requestStamp =
  (db: Queryable): RequestStamp =>
  async (checkId, accountId, now) => {
    const created = await db.$executeRaw`
      INSERT INTO stamp (subject_id, kind, account_id, digest, requested_at, next_attempt_at)
      SELECT id, 'check', account_id, hash, ${now}::timestamptz, ${now}::timestamptz FROM "check"
      WHERE id = ${checkId}::uuid AND account_id = ${accountId}::uuid AND NOT test
      ON CONFLICT (subject_id) DO NOTHING`;
    const stamp = await findCheckStamp(db)(checkId, accountId);
    return stamp && { ...stamp, created: created > 0 };
  };

/** Thrown inside the transaction to roll back the binding of the key. */
class NoCheck extends Error {}

/** Creates the pending time-stamp of an account's live check and binds the Idempotency-Key, or changes nothing. */
export const requestStampForCheck =
  (db: Database): RequestStampForCheck =>
  async ({ checkId, accountId, now }, key) => {
    try {
      return await db.$transaction(async (tx) => {
        const bound = key === null || (await bindIdempotencyKey(tx)({ ...key, accountId, requestId: null, now }));
        if (!bound) return { kind: 'key_taken' as const };
        const requested = await requestStamp(tx)(checkId, accountId, now);
        if (!requested) throw new NoCheck();
        const { created, ...stamp } = requested;
        return { kind: 'requested' as const, stamp, created };
      });
    } catch (error) {
      if (error instanceof NoCheck) return { kind: 'no_check' };
      throw error;
    }
  };

/** A page of the pending time-stamps due before `before`, oldest first. */
export const dueStamps =
  (db: Queryable) =>
  async (before: Date, after: StampCursor | null, limit: number): Promise<DueStamp[]> => {
    const rows = await db.$queryRaw<{ subject_id: string; next_attempt_at: Date }[]>`
      SELECT subject_id, next_attempt_at FROM stamp
      WHERE token IS NULL AND next_attempt_at < ${before}::timestamptz
        AND (next_attempt_at, subject_id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.subjectId ?? NIL}::uuid)
      ORDER BY next_attempt_at, subject_id LIMIT ${limit}::int`;
    return rows.map((row) => ({ subjectId: row.subject_id, dueAt: row.next_attempt_at }));
  };
