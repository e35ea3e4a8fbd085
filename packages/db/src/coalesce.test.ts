import { setImmediate as turn } from 'node:timers/promises';
import { coalesce } from './coalesce.js';

test('a call alone is served at once; calls that come meanwhile are served together, each with its own answer', async () => {
  const runs: number[][] = [];
  const ask = coalesce(async (inputs: number[]) => {
    runs.push(inputs);
    await turn();
    return inputs.map((n) => n * 2);
  }, 1);
  expect(await Promise.all([1, 2, 3, 4].map(ask))).toEqual([2, 4, 6, 8]);
  expect(runs).toEqual([[1], [2, 3, 4]]);
  expect(await ask(5)).toBe(10);
});

test('one call that cannot be served does not fail those it was gathered with', async () => {
  const ask = coalesce(async (inputs: number[]) => {
    await turn();
    if (inputs.includes(3)) throw new Error('not three');
    return inputs;
  }, 1);
  const answers = await Promise.allSettled([1, 2, 3, 4].map(ask));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});
