import type { Database } from '../connect-database.js';

/** Who a password is judged for. `passwordHash`: argon2id, PHC string. */
export type UserCredentials = { id: string; passwordHash: string };

/** The user with an e-mail address (trimmed, lower case); `null` when there is none. */
export const findUser =
  (db: Database) =>
  (email: string): Promise<UserCredentials | null> =>
    db.user.findUnique({ where: { email }, select: { id: true, passwordHash: true } });
