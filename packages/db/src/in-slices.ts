/** Slices that one run deletes, so that what waits behind it (sweeps) never waits long; the next run goes on. */
export const MOST_SLICES = 100;

/**
 * Deletes a slice at a time, so that no statement runs long, until one was not full or `most` are done. `step` deletes up to
 * `slice` rows and returns how many. Returns the sum.
 */
export const inSlices = async (slice: number, step: () => Promise<number>, most = MOST_SLICES): Promise<number> => {
  let all = 0;
  for (let [n, slices] = [slice, 0]; n === slice && slices < most; slices += 1) {
    n = await step();
    all += n;
  }
  return all;
};
