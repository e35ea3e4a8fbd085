import { setImmediate as turn } from 'node:timers/promises';
import { coalesce } from './coalesce.js';

test('a single call runs at once; calls during it share the next run, each with its own result', async () => {
  const runs: number[][] = [];
  const call = coalesce(async (inputs: number[]) => {
    runs.push(inputs);
    await turn();
    return inputs.map((n) => n * 2);
  }, 1);
  expect(await Promise.all([1, 2, 3, 4].map(call))).toEqual([2, 4, 6, 8]);
  expect(runs).toEqual([[1], [2, 3, 4]]);
  expect(await call(5)).toBe(10);
});

test('a call that fails does not fail the calls that share its run', async () => {
  const call = coalesce(async (inputs: number[]) => {
    await turn();
    if (inputs.includes(3)) throw new Error('not three');
    return inputs;
  }, 1);
  const results = await Promise.allSettled([1, 2, 3, 4].map(call));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});
