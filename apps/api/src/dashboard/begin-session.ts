import type { NewSession, UserCredentials } from '@vat/db';
import { AppError } from '@vat/domain';
import type { SessionTokens } from './session-tokens.js';

export type BeginSessionDeps = {
  tokens: SessionTokens;
  /** False when the user has another password by now. */
  insertSession: (session: NewSession, earlier: Uint8Array | null) => Promise<boolean>;
  /** Milliseconds until a session that is not used ends. */
  sessionLifeMs: number;
  now: () => Date;
};

/**
 * Begins a session for a user whose password was judged; returns its token. `earlier`: the token the browser came with,
 * whose session ends. Throws UNAUTHORIZED when the password was changed meanwhile.
 */
export const beginSession =
  ({ tokens, insertSession, sessionLifeMs, now }: BeginSessionDeps) =>
  async ({ id: userId, passwordHash }: UserCredentials, earlier: string | null): Promise<string> => {
    const token = tokens.issue();
    const at = now();
    const begun = await insertSession(
      { id: tokens.hash(token), userId, passwordHash, now: at, expiresAt: new Date(at.getTime() + sessionLifeMs) },
      earlier === null ? null : tokens.hash(earlier),
    );
    if (!begun) throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    return token;
  };
