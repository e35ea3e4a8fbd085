/** The maximum number of chunks per run, so that other maintenance is not delayed for long; the next run continues. */
export const MAX_CHUNKS = 100;

/**
 * Deletes rows in chunks, so that each statement is short, until a chunk was not full or `maxChunks` are done. `step` deletes
 * up to `chunkSize` rows and returns their number. Returns the sum.
 */
export const inChunks = async (
  chunkSize: number,
  step: () => Promise<number>,
  maxChunks = MAX_CHUNKS,
): Promise<number> => {
  let total = 0;
  for (let [n, chunks] = [chunkSize, 0]; n === chunkSize && chunks < maxChunks; chunks += 1) {
    n = await step();
    total += n;
  }
  return total;
};
