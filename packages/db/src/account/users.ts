import type { PasswordChange, UserCredentials, UserToSignIn } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { query } from '../query.js';
import { insertSession } from './sessions.js';

/** The user with an e-mail address (trimmed, lower case); `null` when there is none. */
export const findUser =
  (db: Database) =>
  (email: string): Promise<UserToSignIn | null> =>
    db.user.findUnique({ where: { email }, select: { id: true, passwordHash: true, knownNetworks: true } });

/** The maximum number of known networks per user: home, office, and recent ones of a traveller. */
const MAX_KNOWN_NETWORKS = 20;

/** Adds a network (as an HMAC) to those from which a user has signed in; the oldest one is dropped when there are too many. */
export const rememberNetwork =
  (db: Queryable) =>
  async (userId: string, network: Uint8Array): Promise<void> => {
    const key = Buffer.from(network);
    await db.$executeRaw`
      UPDATE app_user SET known_networks =
        (known_networks || ${key}::bytea)[greatest(1, cardinality(known_networks) + 2 - ${MAX_KNOWN_NETWORKS}::int):]
      WHERE id = ${userId}::uuid AND NOT ${key}::bytea = ANY (known_networks)`;
  };

/** At most `max` networks from which users have signed in, see {@link rememberNetwork}. */
export const listKnownNetworks =
  (db: Queryable) =>
  async (max: number): Promise<Uint8Array[]> => {
    const rows = await query(db, { network: 'bytea' })`
      SELECT network FROM app_user, unnest(known_networks) AS network LIMIT ${max}::int`;
    return rows.map(({ network }) => network);
  };

/** The credentials of a user; `null` when there is no such user. */
export const findUserById =
  (db: Database) =>
  (id: string): Promise<UserCredentials | null> =>
    db.user.findUnique({ where: { id }, select: { id: true, passwordHash: true } });

/**
 * Replaces a user's password, ends all sessions and creates a new one. False when the verified password is no longer the
 * current one. The UPDATE and the DELETE are separate statements: a sign-in with the old password that precedes the UPDATE
 * has committed its session before the DELETE runs, and a later one fails because the password differs.
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
