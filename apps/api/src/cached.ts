/**
 * A function whose result is shared for `ms`, in milliseconds, by all calls. `at`: the time of the call. A failure reaches the
 * calls that wait for it and is not cached.
 */
export const cached = <T>(read: (at: Date) => Promise<T>, ms: number): ((at: Date) => Promise<T>) => {
  let current: { until: number; value: Promise<T> } | null = null;
  return (at) => {
    if (current !== null && current.until > at.getTime()) return current.value;
    const own = { until: at.getTime() + ms, value: read(at) };
    current = own;
    own.value.catch(() => {
      if (current === own) current = null;
    });
    return own.value;
  };
};
