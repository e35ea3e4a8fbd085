import type { Database, Queryable } from '../connect-database.js';
import { insertSession, type NewSession } from './sessions.js';

/** Who a password is judged for. `passwordHash`: argon2id, PHC string. */
export type UserCredentials = { id: string; passwordHash: string };

/** Who signs in. `knownNetworks`: see {@link rememberNetwork}. */
export type UserToSignIn = UserCredentials & { knownNetworks: Uint8Array[] };

/** The user with an e-mail address (trimmed, lower case); `null` when there is none. */
export const findUser =
  (db: Database) =>
  (email: string): Promise<UserToSignIn | null> =>
    db.user.findUnique({ where: { email }, select: { id: true, passwordHash: true, knownNetworks: true } });

/** Networks that are remembered of a user: home, office, and the ones of a traveller's last weeks. */
const MAX_KNOWN_NETWORKS = 20;

/** Adds a network (in the form of an HMAC) to those where a user has signed in; the oldest one makes room. */
export const rememberNetwork =
  (db: Queryable) =>
  async (userId: string, network: Uint8Array): Promise<void> => {
    const key = Buffer.from(network);
    await db.$executeRaw`
      UPDATE app_user SET known_networks =
        (known_networks || ${key}::bytea)[greatest(1, cardinality(known_networks) + 2 - ${MAX_KNOWN_NETWORKS}::int):]
      WHERE id = ${userId}::uuid AND NOT ${key}::bytea = ANY (known_networks)`;
  };

/** At most `max` networks where users have signed in, see {@link rememberNetwork}. */
export const listKnownNetworks =
  (db: Queryable) =>
  async (max: number): Promise<Uint8Array[]> => {
    const rows = await db.$queryRaw<{ network: Uint8Array }[]>`
      SELECT network FROM app_user, unnest(known_networks) AS network LIMIT ${max}::int`;
    return rows.map(({ network }) => network);
  };

/** A user's credentials; `null` when there is no such user (any more). */
export const findUserById =
  (db: Database) =>
  (id: string): Promise<UserCredentials | null> =>
    db.user.findUnique({ where: { id }, select: { id: true, passwordHash: true } });

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
