import { inChunks, MAX_CHUNKS } from './in-chunks.js';

test('deletes chunks until one is not full, and at most the maximum of a run', async () => {
  let left = 12;
  const step = () => {
    const n = Math.min(5, left);
    left -= n;
    return Promise.resolve(n);
  };
  expect([await inChunks(5, step), left]).toEqual([12, 0]);
  left = 1_000_000;
  expect(await inChunks(5, step, 3)).toBe(15);
  expect(await inChunks(5, step)).toBe(5 * MAX_CHUNKS);
});
