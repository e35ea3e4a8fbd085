import type { ShortMemory } from '@vat/domain';
import { LRUCache } from 'lru-cache';

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
