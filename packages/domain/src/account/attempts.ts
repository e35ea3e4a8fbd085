/** A key under which attempts are counted (an HMAC of an e-mail address, of a network or of both), and its maximum. */
export type TryLimit = { key: Uint8Array; tries: number };

/** A limit that refused an attempt, and when it admits the next one. */
export type RefusedTries = { key: Buffer; free: Date };

/** Counts an attempt under all keys. When a limit is reached, counts nothing and returns the limits that refuse it. */
export type ReserveTries = (limits: readonly TryLimit[], now: Date) => Promise<RefusedTries[]>;

/** Removes the one attempt that was counted under each key at `at`. */
export type TakeBackTries = (keys: readonly Uint8Array[], at: Date) => Promise<void>;

/** A bounded cache whose entries expire. `find` returns `undefined` when there is no entry or it has expired. */
export type ShortMemory<Value> = {
  find: (key: string, at: Date) => Value | undefined;
  set: (key: string, value: Value, at: Date) => void;
};

/** When the last of the limits admits an attempt again. */
export const freeAt = (refused: readonly RefusedTries[]): Date =>
  new Date(Math.max(...refused.map(({ free }) => free.getTime())));

/**
 * Whole seconds until a limit admits an attempt again, for Retry-After: at least 1, and at most those of its window, also where
 * the last attempt was counted by a clock that is milliseconds ahead.
 */
export const secondsUntil = (free: Date, at: Date, windowMs: number): number =>
  Math.max(1, Math.ceil(Math.min(free.getTime() - at.getTime(), windowMs) / 1_000));
