import type {
  DueStamp,
  FindCheckStamp,
  FindPendingStamp,
  FindToken,
  RecordStamp,
  RequestedStamp,
  RequestStamp,
  RequestStampForCheck,
  StampCursor,
  StampFacts,
  StampKind,
} from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { all, columns, isOneOf, query, type RowOf, selectList, typed } from '../query.js';
import { transact } from '../transaction.js';
import { NIL } from '../uuid-bounds.js';

/** The facts of a row of `stamp`; all null while it is pending. */
export const FACTS = columns({
  genTime: 'timestamptz?',
  accuracyMs: 'int4?',
  ...all('text?', 'serial', 'policy', 'authority'),
  development: 'bool?',
});
const REQUESTED = columns({
  subjectId: 'uuid',
  kind: typed<StampKind>('text'),
  accountId: 'uuid?',
  requestedAt: 'timestamptz',
  attempts: 'int4',
});
const STAMP = columns({ ...REQUESTED, nextAttemptAt: 'timestamptz?', lastError: 'text?', ...FACTS });

/** The columns {@link FACTS} of a `stamp` with the alias s. */
export const FACTS_LIST = selectList('s', FACTS);

/** Separates the facts of a row's token from its other columns; null while it is pending. */
export const splitFacts = <R extends RowOf<typeof FACTS>>({
  genTime,
  accuracyMs,
  serial,
  policy,
  authority,
  development,
  ...rest
}: R): { facts: StampFacts | null; rest: Omit<R, keyof typeof FACTS> } => ({
  facts:
    genTime === null
      ? null
      : {
          genTime,
          accuracyMs,
          serial: serial ?? '',
          policy: policy ?? '',
          authority: authority ?? '',
          development: development ?? false,
        },
  rest,
});

export const findCheckStamp =
  (db: Queryable): FindCheckStamp =>
  async (checkId, accountId) => {
    const [row] = await query(db, STAMP)`
      SELECT ${selectList('s', STAMP)} FROM stamp s WHERE s.subject_id = ${checkId}::uuid AND s.account_id = ${accountId}::uuid`;
    if (!row) return null;
    const { facts, rest } = splitFacts(row);
    return { ...rest, facts };
  };

/** The token of an account's check or, without an account, of an anchor. */
export const findToken =
  (db: Queryable): FindToken =>
  async (subjectId, accountId) => {
    const [row] = await query(db, { token: 'bytea!' })`
      SELECT token FROM stamp WHERE subject_id = ${subjectId}::uuid AND account_id IS NOT DISTINCT FROM ${accountId}::uuid
        AND token IS NOT NULL`;
    return row?.token ?? null;
  };

/**
 * Deletes the pending time-stamp of a check that is not stored. It was requested while retention deleted the check, and would
 * remain due and be counted as pending.
 */
const deleteStampWithoutCheck = (db: Queryable, checkId: string): Promise<number> =>
  db.$executeRaw`
    DELETE FROM stamp WHERE subject_id = ${checkId}::uuid AND kind = 'check' AND token IS NULL
      AND NOT EXISTS (SELECT 1 FROM "check" WHERE ${isOneOf(Prisma.sql`id`, [checkId])})`;

/** A pending time-stamp with the bytes to stamp; null when there is none. One whose check was deleted is deleted, too. */
export const findPendingStamp =
  (db: Queryable): FindPendingStamp =>
  async (subjectId) => {
    const [row] = await query(db, { ...REQUESTED, data: 'bytea', madeAt: 'timestamptz' })`
      SELECT ${selectList('s', REQUESTED)}, COALESCE(c.body, a.body) AS data,
        COALESCE(c.checked_at, a.closed_at) AS "madeAt"
      FROM stamp s LEFT JOIN "check" c ON s.kind = 'check' AND c.id = s.subject_id AND c.id = ${subjectId}::uuid
        LEFT JOIN anchor a ON s.kind = 'anchor' AND a.id = s.subject_id
      WHERE s.subject_id = ${subjectId}::uuid AND s.token IS NULL AND COALESCE(c.body, a.body) IS NOT NULL`;
    if (row) return row;
    await deleteStampWithoutCheck(db, subjectId);
    return null;
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
      WHERE ${isOneOf(Prisma.sql`id`, [checkId])} AND account_id = ${accountId}::uuid AND NOT test
      ON CONFLICT (subject_id) DO NOTHING`;
    const stamp = await findCheckStamp(db)(checkId, accountId);
    return stamp && { ...stamp, created: created > 0 };
  };

/** Creates the pending time-stamp of an account's live check and binds the Idempotency-Key, or changes nothing. */
export const requestStampForCheck =
  (db: Database): RequestStampForCheck =>
  ({ checkId, accountId, now }, key) =>
    transact<RequestedStamp>(db, async (tx, refuse) => {
      const bound = key === null || (await bindIdempotencyKey(tx)({ ...key, accountId, requestId: null, now }));
      if (!bound) return { kind: 'key_taken' };
      const requested = await requestStamp(tx)(checkId, accountId, now);
      if (!requested) return refuse({ kind: 'no_check' });
      const { created, ...stamp } = requested;
      return { kind: 'requested', stamp, created };
    });

/** A page of the pending time-stamps due before `before`, oldest first. */
export const dueStamps =
  (db: Queryable) =>
  async (before: Date, after: StampCursor | null, limit: number): Promise<DueStamp[]> => {
    return query(db, { subjectId: 'uuid', dueAt: 'timestamptz!' })`
      SELECT subject_id AS "subjectId", next_attempt_at AS "dueAt" FROM stamp
      WHERE token IS NULL AND next_attempt_at < ${before}::timestamptz
        AND (next_attempt_at, subject_id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.subjectId ?? NIL}::uuid)
      ORDER BY next_attempt_at, subject_id LIMIT ${limit}::int`;
  };
