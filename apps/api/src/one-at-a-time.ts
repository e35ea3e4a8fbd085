/** Runs work of the same key one after the other, and of different keys side by side. */
export type OneAtATime = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Work that would only wait for the same row lock waits here instead, where it holds no database connection: when an
 * outage ends many windows of one account at once, the calls of all others still find a free one.
 */
export const oneAtATime = (): OneAtATime => {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
};
