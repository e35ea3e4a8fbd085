/** Slices that one run deletes, so that what waits behind it (sweeps) never waits long; the next run goes on. */
export const MAX_CHUNKS = 100;

/**
 * Deletes a slice at a time, so that no statement runs long, until one was not full or `most` are done. `step` deletes up to
 * `slice` rows and returns how many. Returns the sum.
 */
export const inChunks = async (slice: number, step: () => Promise<number>, most = MAX_CHUNKS): Promise<number> => {
  let all = 0;
  for (let [n, slices] = [slice, 0]; n === slice && slices < most; slices += 1) {
    n = await step();
    all += n;
  }
  return all;
};
