import type { Database } from '../connect-database.js';
import type { UserCredentials } from './find-user.js';

/** A user's credentials; `null` when there is no such user (any more). */
export const findUserById =
  (db: Database) =>
  (id: string): Promise<UserCredentials | null> =>
    db.user.findUnique({ where: { id }, select: { id: true, passwordHash: true } });
