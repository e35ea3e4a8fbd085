import type { Queryable } from '../connect-database.js';

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
