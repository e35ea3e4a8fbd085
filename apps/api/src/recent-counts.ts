type Count = { value: number; at: number };

/** How often each key was counted lately. A count fades: after `halfLifeMs` it is worth half. */
export type RecentCounts = {
  add: (key: string, by: number, at: Date) => void;
  read: (key: string, at: Date) => number;
};

/** Counts of at most `max` keys: the one that was counted longest ago makes room for a new one. */
export const recentCounts = ({ max, halfLifeMs }: { max: number; halfLifeMs: number }): RecentCounts => {
  const counts = new Map<string, Count>();
  const fade = ({ value, at }: Count, now: number): number => value * 2 ** -(Math.max(0, now - at) / halfLifeMs);
  return {
    add: (key, by, at) => {
      const count = counts.get(key);
      const now = at.getTime();
      // Deleted first, so that the map stays in the order of the latest use.
      counts.delete(key);
      counts.set(key, { value: Math.max(0, (count ? fade(count, now) : 0) + by), at: now });
      if (counts.size <= max) return;
      for (const oldest of counts.keys()) {
        counts.delete(oldest);
        break;
      }
    },
    read: (key, at) => {
      const count = counts.get(key);
      return count ? fade(count, at.getTime()) : 0;
    },
  };
};
