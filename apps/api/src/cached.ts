import type { ShortMemory } from '@vat/domain';
import { LRUCache } from 'lru-cache';

/** Reading takes at most one part in this many of the time, however long a read takes. */
const SHARE = 20;

/**
 * A function whose result is shared by all calls for `ms`, in milliseconds, or for {@link SHARE} times as long as its reading
 * took. `at`: the time of the call. A failure reaches the calls that wait for it and is not cached.
 */
export const cached = <T>(
  read: (at: Date) => Promise<T>,
  ms: number,
  elapsed: () => number = () => performance.now(),
): ((at: Date) => Promise<T>) => {
  let current: { until: number; value: Promise<T> } | null = null;
  return (at) => {
    if (current !== null && current.until > at.getTime()) return current.value;
    const startedAt = elapsed();
    const own = { until: at.getTime() + ms, value: read(at) };
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

/** Stores at most `max` values, each for `ms` milliseconds of the time that is passed in. When it is full, the oldest entry is evicted. */
export const shortMemory = <Value>({ max, ms }: { max: number; ms: number }): ShortMemory<Value> => {
  // With `max` instead, the cache would allocate the memory of all its entries at once.
  const stored = new LRUCache<string, { value: Value; until: number }>({ maxSize: max, sizeCalculation: () => 1 });
  return {
    find: (key, at) => {
      const entry = stored.peek(key);
      return entry && entry.until > at.getTime() ? entry.value : undefined;
    },
    set: (key, value, at) => void stored.set(key, { value, until: at.getTime() + ms }),
  };
};
