/** A bounded cache whose entries expire. */
export type ShortMemory<Value> = {
  /** `undefined` when there is no entry or it has expired. */
  find: (key: string, at: Date) => Value | undefined;
  set: (key: string, value: Value, at: Date) => void;
  delete: (key: string) => void;
};

/** Stores at most `max` values, each for `ms` milliseconds. When it is full, the oldest entry is evicted. */
export const shortMemory = <Value>({ max, ms }: { max: number; ms: number }): ShortMemory<Value> => {
  const stored = new Map<string, { value: Value; until: number }>();
  return {
    find: (key, at) => {
      const entry = stored.get(key);
      return entry && entry.until > at.getTime() ? entry.value : undefined;
    },
    set: (key, value, at) => {
      // Deleted first: a Map keeps the original position of a key that is overwritten.
      stored.delete(key);
      stored.set(key, { value, until: at.getTime() + ms });
      if (stored.size <= max) return;
      for (const oldest of stored.keys()) {
        stored.delete(oldest);
        break;
      }
    },
    delete: (key) => void stored.delete(key),
  };
};
