import type { Queryable } from '../connect-database.js';

/** A session as it is stored. `id`: SHA-256 of its token. */
export type NewSession = { id: Uint8Array; userId: string; now: Date; expiresAt: Date };

/**
 * Begins a session and ends the one the browser came with, in one statement: whoever knew or planted the earlier token
 * is left with nothing.
 */
export const insertSession =
  (db: Queryable) =>
  async ({ id, userId, now, expiresAt }: NewSession, earlier: Uint8Array | null): Promise<void> => {
    await db.$executeRaw`
      WITH ended AS (DELETE FROM session WHERE id = ${earlier && Buffer.from(earlier)}::bytea)
      INSERT INTO session (id, user_id, created_at, last_seen_at, expires_at)
      VALUES (${Buffer.from(id)}::bytea, ${userId}::uuid, ${now}::timestamptz, ${now}::timestamptz, ${expiresAt}::timestamptz)`;
  };
