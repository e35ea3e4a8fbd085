import type { Database } from '../connect-database.js';
import { insertSession, type NewSession } from './insert-session.js';

/** A user's new password, argon2id as PHC strings, and the session that goes on. */
export type PasswordChange = { userId: string; from: string; to: string; session: Omit<NewSession, 'passwordHash'> };

/**
 * Replaces a user's password, ends all sessions and begins the one that goes on. False when the password is no longer the
 * one that was judged. In two statements: a sign-in with the old password that came before the first one has committed its
 * session when the second one looks, and one that comes after finds another password.
 */
export const changePassword =
  (db: Database) =>
  ({ userId, from, to, session }: PasswordChange): Promise<boolean> =>
    db.$transaction(async (tx) => {
      const changed = await tx.$executeRaw`
        UPDATE app_user SET password_hash = ${to} WHERE id = ${userId}::uuid AND password_hash = ${from}`;
      if (changed === 0) return false;
      await tx.$executeRaw`DELETE FROM session WHERE user_id = ${userId}::uuid`;
      return insertSession(tx)({ ...session, passwordHash: to }, null);
    });
