import { isPlan, monthlyQuota, type Plan } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { inChunks } from '../in-chunks.js';

/** A session as it is stored. `id`: SHA-256 of its token. `passwordHash`: that of the password which was judged. */
export type NewSession = { id: Uint8Array; userId: string; passwordHash: string; now: Date; expiresAt: Date };

/**
 * Begins a session and ends the one the browser came with, in one statement: whoever knew or planted the earlier token
 * is left with nothing. False, and nothing happened, when the user has another password by now: a sign-in that was under
 * way while it was changed must not outlive it.
 */
export const insertSession =
  (db: Queryable) =>
  async ({ id, userId, passwordHash, now, expiresAt }: NewSession, earlier: Uint8Array | null): Promise<boolean> => {
    const begun = await db.$executeRaw`
      WITH owner AS (
        SELECT id FROM app_user WHERE id = ${userId}::uuid AND password_hash = ${passwordHash} FOR SHARE
      ), ended AS (
        DELETE FROM session WHERE id = ${earlier && Buffer.from(earlier)}::bytea AND EXISTS (SELECT 1 FROM owner)
      )
      INSERT INTO session (id, user_id, created_at, last_seen_at, expires_at)
      SELECT ${Buffer.from(id)}::bytea, owner.id, ${now}::timestamptz, ${now}::timestamptz, ${expiresAt}::timestamptz
      FROM owner`;
    return begun > 0;
  };

/** Who is signed in to the dashboard. */
export type SignedIn = {
  userId: string;
  email: string;
  accountId: string;
  accountName: string;
  plan: Plan;
  /** Checks a month. */
  quota: number;
  disabled: boolean;
};

/** When sessions end, in milliseconds. */
export type SessionTerms = {
  /** Without use. */
  idleMs: number;
  /** However much it is used. */
  maxAgeMs: number;
  /** Use is noted at most this often: more would be a write a call. */
  noteEveryMs: number;
};

type Row = {
  user_id: string;
  email: string;
  account_id: string;
  name: string;
  plan: string;
  monthly_quota: number | null;
  disabled_at: Date | null;
};

/** Who a live session belongs to, and notes its use; `null` when it is unknown, ended or expired. */
export const findSession =
  (db: Queryable, { idleMs, maxAgeMs, noteEveryMs }: SessionTerms) =>
  async (id: Uint8Array, now: Date): Promise<SignedIn | null> => {
    const hash = Buffer.from(id);
    const idleEnd = new Date(now.getTime() + idleMs);
    const [row] = await db.$queryRaw<Row[]>`
      WITH noted AS (
        UPDATE session SET last_seen_at = ${now}::timestamptz,
          expires_at = LEAST(${idleEnd}::timestamptz, created_at + ${maxAgeMs / 1_000}::float8 * interval '1 second')
        WHERE id = ${hash}::bytea AND expires_at > ${now}::timestamptz
          AND last_seen_at <= ${new Date(now.getTime() - noteEveryMs)}::timestamptz
      )
      SELECT u.id AS user_id, u.email, a.id AS account_id, a.name, a.plan, a.monthly_quota, a.disabled_at
      FROM session s JOIN app_user u ON u.id = s.user_id JOIN account a ON a.id = u.account_id
      WHERE s.id = ${hash}::bytea AND s.expires_at > ${now}::timestamptz`;
    if (!row) return null;
    if (!isPlan(row.plan)) throw new Error(`account ${row.account_id} has the unknown plan ${row.plan}`);
    return {
      userId: row.user_id,
      email: row.email,
      accountId: row.account_id,
      accountName: row.name,
      plan: row.plan,
      quota: monthlyQuota({ plan: row.plan, monthlyQuota: row.monthly_quota }),
      disabled: row.disabled_at !== null,
    };
  };

/** Ends a session everywhere at once. `id`: SHA-256 of its token. Ending it twice is no error. */
export const deleteSession =
  (db: Queryable) =>
  async (id: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE id = ${Buffer.from(id)}::bytea`;
  };

/** Ends every session of a user, everywhere at once. */
export const deleteSessionsOfUser =
  (db: Queryable) =>
  async (userId: string): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE user_id = ${userId}::uuid`;
  };

/** Of these sessions (SHA-256 of their tokens, in hex), those that are live. That is no use of them: it does not put off their end. */
export const liveSessions =
  (db: Queryable) =>
  async (ids: readonly string[], now: Date): Promise<Set<string>> => {
    const rows = await db.$queryRaw<{ id: string }[]>`
      SELECT encode(id, 'hex') AS id FROM session
      WHERE id IN (SELECT decode(h, 'hex') FROM unnest(${[...ids]}::text[]) h) AND expires_at > ${now}::timestamptz`;
    return new Set(rows.map(({ id }) => id));
  };

const SLICE = 5_000;

/** Deletes sessions and counts of wrong sign-ins that are over, in slices. */
export const deleteExpiredSessions =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    await inChunks(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM session WHERE id IN (
          SELECT id FROM session WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`,
    );
    await inChunks(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz AND address IN (
          SELECT address FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`,
    );
  };
