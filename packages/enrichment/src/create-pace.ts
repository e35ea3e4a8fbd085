/**
 * Spaces the calls of one process: each taken turn starts at least `gapMs` after the one before. Returns the
 * milliseconds to wait, or null (and takes no turn) when that would be longer than `longestWaitMs`.
 */
export const createPace = ({ gapMs }: { gapMs: number }) => {
  let free = 0;
  return (longestWaitMs: number): number | null => {
    // The monotonic clock: a stepped wall clock must neither bunch the calls nor hold them up.
    const at = performance.now();
    const turn = Math.max(at, free);
    if (turn - at > longestWaitMs) return null;
    free = turn + gapMs;
    return turn - at;
  };
};
