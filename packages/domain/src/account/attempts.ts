/** A key under which attempts are counted (an HMAC of an e-mail address, of a network or of both), and its maximum. */
export type TryLimit = { key: Uint8Array; tries: number };

/** A limit that refused an attempt, and when it admits the next one. */
export type RefusedTries = { key: Buffer; free: Date };

/** Counts an attempt under all keys. When a limit is reached, counts nothing and returns the limits that refuse it. */
export type ReserveTries = (limits: readonly TryLimit[], now: Date) => Promise<RefusedTries[]>;

/** A bounded cache whose entries expire. `find` returns `undefined` when there is no entry or it has expired. */
export type ShortMemory<Value> = {
  find: (key: string, at: Date) => Value | undefined;
  set: (key: string, value: Value, at: Date) => void;
};

/** When the last of the limits admits an attempt again. */
export const freeAt = (refused: readonly RefusedTries[]): Date =>
  new Date(Math.max(...refused.map(({ free }) => free.getTime())));

/** Whole seconds from one time to a later one, at least 1, for Retry-After. */
export const secondsUntil = (later: Date, at: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - at.getTime()) / 1_000));
