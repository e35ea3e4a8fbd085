import { LRUCache } from 'lru-cache';

/** A bounded cache whose entries expire. */
export type ShortMemory<Value> = {
  /** `undefined` when there is no entry or it has expired. */
  find: (key: string, at: Date) => Value | undefined;
  set: (key: string, value: Value, at: Date) => void;
};

/** Stores at most `max` values, each for `ms` milliseconds of the time that is passed in. When it is full, the oldest entry is evicted. */
export const shortMemory = <Value>({ max, ms }: { max: number; ms: number }): ShortMemory<Value> => {
  const stored = new LRUCache<string, { value: Value; until: number }>({ max });
  return {
    find: (key, at) => {
      const entry = stored.peek(key);
      return entry && entry.until > at.getTime() ? entry.value : undefined;
    },
    set: (key, value, at) => void stored.set(key, { value, until: at.getTime() + ms }),
  };
};
