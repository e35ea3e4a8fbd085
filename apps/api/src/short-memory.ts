/** Values that are remembered for a while, by key. */
export type ShortMemory<Value> = {
  /** `undefined` when nothing is remembered, or no longer. */
  find: (key: string, at: Date) => Value | undefined;
  set: (key: string, value: Value, at: Date) => void;
  delete: (key: string) => void;
};

/** Remembers at most `max` values for `ms` milliseconds each: the one that was stored longest ago makes room for a new one. */
export const shortMemory = <Value>({ max, ms }: { max: number; ms: number }): ShortMemory<Value> => {
  const stored = new Map<string, { value: Value; until: number }>();
  return {
    find: (key, at) => {
      const entry = stored.get(key);
      return entry && entry.until > at.getTime() ? entry.value : undefined;
    },
    set: (key, value, at) => {
      // Deleted first, so that the map stays in the order of storing.
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
