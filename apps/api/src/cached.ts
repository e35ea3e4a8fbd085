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
