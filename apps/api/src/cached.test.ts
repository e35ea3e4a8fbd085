import { cached } from './cached.js';

test('a read is shared for its time, a slow one for twenty times as long as it took, and a failed one is repeated', async () => {
  let [reads, clock] = [0, 0];
  const takes = [10, 500, -1, 10];
  const read = cached(
    async () => {
      const ms = takes[reads] ?? 0;
      reads += 1;
      if (ms < 0) throw new Error('not read');
      clock += ms;
      return reads;
    },
    2_000,
    () => clock,
  );
  const at = (ms: number) => read(new Date(ms));
  expect([await at(0), await at(1_999)]).toEqual([1, 1]);
  expect([await at(2_000), await at(11_999)]).toEqual([2, 2]);
  await expect(at(12_000)).rejects.toThrow('not read');
  expect(await at(12_001)).toBe(4);
});

test('a read is not shared until the clock has caught up after it was set back', async () => {
  let reads = 0;
  const read = cached(async () => {
    reads += 1;
    return reads;
  }, 2_000);
  const at = (ms: number) => read(new Date(ms));
  expect([await at(3_600_000), await at(3_599_990)]).toEqual([1, 1]);
  expect([await at(0), await at(1_999), await at(2_000)]).toEqual([2, 2, 3]);
});
