import { isPlan, monthlyQuota, type NewSession, type Plan, type Role } from '@vat/domain';
import { coalesce } from '../coalesce.js';
import type { Queryable } from '../connect-database.js';
import { inChunks } from '../in-chunks.js';
import { all, columns, query, typed } from '../query.js';

/**
 * Creates a session and ends the earlier one of the same browser, in one statement, so that a known or planted earlier
 * token becomes useless. False, without a change, when the password has changed in the meantime: a sign-in with the old
 * password must not succeed after the change.
 */
export const insertSession =
  (db: Queryable) =>
  async ({ id, userId, passwordHash, now, expiresAt }: NewSession, earlier: Uint8Array | null): Promise<boolean> => {
    const created = await db.$executeRaw`
      WITH owner AS (
        SELECT id FROM app_user WHERE id = ${userId}::uuid AND password_hash = ${passwordHash} FOR SHARE
      ), ended AS (
        DELETE FROM session WHERE id = ${earlier && Buffer.from(earlier)}::bytea AND EXISTS (SELECT 1 FROM owner)
      )
      INSERT INTO session (id, user_id, created_at, last_seen_at, expires_at)
      SELECT ${Buffer.from(id)}::bytea, owner.id, ${now}::timestamptz, ${now}::timestamptz, ${expiresAt}::timestamptz
      FROM owner`;
    return created > 0;
  };

export type SignedIn = {
  userId: string;
  email: string;
  role: Role;
  accountId: string;
  accountName: string;
  plan: Plan;
  /** Checks a month. */
  quota: number;
  disabled: boolean;
};

/** When sessions end, in milliseconds. */
type SessionTerms = {
  /** Without use. */
  idleMs: number;
  /** Since sign-in, whether used or not. */
  maxAgeMs: number;
  /** Use is recorded at most this often, so that not every call writes. */
  noteEveryMs: number;
};

const SIGNED_IN = columns({
  ...all('uuid', 'userId', 'accountId'),
  ...all('text', 'email', 'accountName', 'plan'),
  role: typed<Role>('text'),
  monthlyQuota: 'int4?',
  disabled: 'bool',
});

const readSession =
  (db: Queryable, { idleMs, maxAgeMs, noteEveryMs }: SessionTerms) =>
  async (id: Uint8Array, now: Date): Promise<SignedIn | null> => {
    const hash = Buffer.from(id);
    const idleEnd = new Date(now.getTime() + idleMs);
    const [row] = await query(db, SIGNED_IN)`
      WITH noted AS (
        UPDATE session SET last_seen_at = ${now}::timestamptz,
          expires_at = LEAST(${idleEnd}::timestamptz, created_at + ${maxAgeMs / 1_000}::float8 * interval '1 second')
        WHERE id = ${hash}::bytea AND expires_at > ${now}::timestamptz
          AND last_seen_at <= ${new Date(now.getTime() - noteEveryMs)}::timestamptz
      )
      SELECT u.id AS "userId", u.email, u.role, a.id AS "accountId", a.name AS "accountName", a.plan,
        a.monthly_quota AS "monthlyQuota", a.disabled_at IS NOT NULL AS disabled
      FROM session s JOIN app_user u ON u.id = s.user_id JOIN account a ON a.id = u.account_id
      WHERE s.id = ${hash}::bytea AND s.expires_at > ${now}::timestamptz`;
    if (!row) return null;
    const { plan, monthlyQuota: own, ...user } = row;
    if (!isPlan(plan)) throw new Error(`account ${user.accountId} has the unknown plan ${plan}`);
    return { ...user, plan, quota: monthlyQuota({ plan, monthlyQuota: own }) };
  };

/** Statements that read sessions at once. */
const READS = 4;

/**
 * Returns a function that finds the user of a live session, whose use is recorded; `null` when the session is unknown, ended or
 * expired. Calls that wait share the next statement of their session, which begins after they came: a session is read before the
 * rate of its user is limited, and hundreds of refused calls a second must not occupy the database.
 */
export const findSession = (db: Queryable, terms: SessionTerms) => {
  const read = readSession(db, terms);
  const find = coalesce<{ id: Uint8Array; now: Date }, SignedIn | null>(
    async (calls) => {
      const [first] = calls;
      const found = first ? await read(first.id, first.now) : null;
      return calls.map(() => found);
    },
    { concurrency: READS, keyOf: ({ id }) => Buffer.from(id).toString('base64'), retry: 'together' },
  );
  return (id: Uint8Array, now: Date): Promise<SignedIn | null> => find({ id, now });
};

/** Ends a session, effective in all processes at once. `id`: SHA-256 of its token. Idempotent. */
export const deleteSession =
  (db: Queryable) =>
  async (id: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE id = ${Buffer.from(id)}::bytea`;
  };

/** Ends all sessions of a user, effective in all processes at once. */
export const deleteSessionsOfUser =
  (db: Queryable) =>
  async (userId: string): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE user_id = ${userId}::uuid`;
  };

/** Returns those of the sessions (SHA-256 of their tokens, in hex) that are live. This does not count as use and does not extend them. */
export const liveSessions =
  (db: Queryable) =>
  async (ids: readonly string[], now: Date): Promise<Set<string>> => {
    const rows = await query(db, { id: 'text' })`
      SELECT encode(id, 'hex') AS id FROM session
      WHERE id IN (SELECT decode(h, 'hex') FROM unnest(${[...ids]}::text[]) h) AND expires_at > ${now}::timestamptz`;
    return new Set(rows.map(({ id }) => id));
  };

const CHUNK = 5_000;

/**
 * Deletes expired sessions and expired counts of failed sign-ins, in chunks. Skips rows that another statement is changing: it
 * may wait for one of these.
 */
export const deleteExpiredSessions =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM session WHERE id IN (
          SELECT id FROM session WHERE expires_at <= ${now}::timestamptz LIMIT ${CHUNK}::int
          FOR UPDATE SKIP LOCKED)`,
    );
    await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz AND address IN (
          SELECT address FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz LIMIT ${CHUNK}::int
          FOR UPDATE SKIP LOCKED)`,
    );
  };
