import { AppError } from '../errors.js';

/** The credentials of a user. `passwordHash`: argon2id, PHC string. */
export type UserCredentials = { id: string; passwordHash: string };

/** A new session. `id`: SHA-256 of its token. `passwordHash`: the hash of the verified password. */
export type NewSession = { id: Uint8Array; userId: string; passwordHash: string; now: Date; expiresAt: Date };

/** Issues the tokens of sessions, and derives the forms in which values are stored. */
export type SessionSecrets = {
  /** A token for a new session: 32 random bytes in base64url. Only the cookie contains it. */
  issue: () => string;
  /** The only form in which a token is stored: SHA-256. */
  hash: (token: string) => Buffer;
  /** The form in which an e-mail address or a network with failed sign-ins is stored. */
  hashAddress: (text: string) => Buffer;
};

export type BeginSessionDeps = {
  tokens: SessionSecrets;
  /** Ends the session `earlier`, too. False when the user's password has changed since. */
  insertSession: (session: NewSession, earlier: Uint8Array | null) => Promise<boolean>;
  /** Milliseconds after which an unused session ends. */
  sessionLifeMs: number;
  now: () => Date;
};

/** The error of a sign-in with an unknown address or a wrong password. */
export const wrongCredentials = (): AppError =>
  new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });

/**
 * Begins a session for a user whose password was verified, and returns its token. `earlier`: the token that the browser sent,
 * whose session ends. Throws UNAUTHORIZED when the password was changed in the meantime.
 */
export const beginSession =
  ({ tokens, insertSession, sessionLifeMs, now }: BeginSessionDeps) =>
  async ({ id: userId, passwordHash }: UserCredentials, earlier: string | null): Promise<string> => {
    const token = tokens.issue();
    const at = now();
    const isInserted = await insertSession(
      { id: tokens.hash(token), userId, passwordHash, now: at, expiresAt: new Date(at.getTime() + sessionLifeMs) },
      earlier === null ? null : tokens.hash(earlier),
    );
    if (!isInserted) throw wrongCredentials();
    return token;
  };
