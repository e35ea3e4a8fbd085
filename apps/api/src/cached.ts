import type { ShortMemory } from '@vat/domain';
import { LRUCache } from 'lru-cache';

/** Reading takes at most one part in this many of the time, however long a read takes. */
const SHARE = 20;

/**
 * A function whose result is shared by all calls for `ms`, in milliseconds, or for {@link SHARE} times as long as its reading
 * took. `at`: the time of the call. A failure reaches the calls that wait for it and is not cached. After the clock was set back, the
 * next call reads again.
 */
export const cached = <T>(
  read: (at: Date) => Promise<T>,
  ms: number,
  elapsed: () => number = () => performance.now(),
): ((at: Date) => Promise<T>) => {
  let current: { from: number; until: number; value: Promise<T> } | null = null;
  return (at) => {
    // A call whose time was read before that of the reading is served, too.
    if (current !== null && current.from - ms < at.getTime() && at.getTime() < current.until) return current.value;
    const startedAt = elapsed();
    const own = { from: at.getTime(), until: at.getTime() + ms, value: read(at) };
    current = own;
    own.value.then(
      () => {
        own.until = Math.max(own.until, at.getTime() + SHARE * (elapsed() - startedAt));
      },
      () => {
        if (current === own) current = null;
      },
    );
    return own.value;
  };
};

/**
 * Stores at most `max` values, each for `ms` milliseconds of the time that is passed in; no longer when the clock is set back, or a
 * revoked key would be accepted until it had caught up. When it is full, the oldest entry is evicted.
 */
export const shortMemory = <Value>({ max, ms }: { max: number; ms: number }): ShortMemory<Value> => {
  // With `max` instead, the cache would allocate the memory of all its entries at once.
  const stored = new LRUCache<string, { value: Value; from: number }>({ maxSize: max, sizeCalculation: () => 1 });
  return {
    find: (key, at) => {
      const entry = stored.peek(key);
      if (entry === undefined) return undefined;
      const age = at.getTime() - entry.from;
      return age >= 0 && age < ms ? entry.value : undefined;
    },
    set: (key, value, at) => void stored.set(key, { value, from: at.getTime() }),
  };
};
