import type { Queryable } from '../connect-database.js';

/** Of these sessions (SHA-256 of their tokens, in hex), those that are live. That is no use of them: it does not put off their end. */
export const liveSessions =
  (db: Queryable) =>
  async (ids: readonly string[], now: Date): Promise<Set<string>> => {
    const rows = await db.$queryRaw<{ id: string }[]>`
      SELECT encode(id, 'hex') AS id FROM session
      WHERE id IN (SELECT decode(h, 'hex') FROM unnest(${[...ids]}::text[]) h) AND expires_at > ${now}::timestamptz`;
    return new Set(rows.map(({ id }) => id));
  };
