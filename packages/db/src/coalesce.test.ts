import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { coalesce } from './coalesce.js';

test('a single call runs at once; calls during it share the next run, each with its own result', async () => {
  const runs: number[][] = [];
  const call = coalesce(
    async (inputs: number[]) => {
      runs.push(inputs);
      await turn();
      return inputs.map((n) => n * 2);
    },
    { concurrency: 1 },
  );
  expect(await Promise.all([1, 2, 3, 4].map(call))).toEqual([2, 4, 6, 8]);
  expect(runs).toEqual([[1], [2, 3, 4]]);
  expect(await call(5)).toBe(10);
});

test('a call that fails does not fail the calls that share its run', async () => {
  const call = coalesce(
    async (inputs: number[]) => {
      await turn();
      if (inputs.includes(3)) throw new Error('not three');
      return inputs;
    },
    { concurrency: 1 },
  );
  const results = await Promise.allSettled([1, 2, 3, 4].map(call));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});

const failing = (takesMs: number, failures: number, runs: number[][] = []) => ({
  runs,
  call: coalesce(
    async (inputs: number[]) => {
      runs.push(inputs);
      await pause(takesMs);
      if (runs.length <= failures) throw new Error('no connection');
      return inputs;
    },
    { concurrency: 1, retry: 'together', hungAfterMs: 50 },
  ),
});
const outcomes = async (calls: Promise<number>[]) => (await Promise.allSettled(calls)).map(({ status }) => status);

test('a statement whose calls cannot be at fault is repeated once for all of them, and then fails for all of them', async () => {
  const once = failing(1, 1);
  expect(await Promise.all([1, 2].map(once.call))).toEqual([1, 2]);
  expect(once.runs).toEqual([[1], [1], [2]]);
  const twice = failing(1, 2);
  expect(await outcomes([1, 2, 3].map(twice.call))).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(twice.runs).toEqual([[1], [1], [2, 3]]);
});

test('a statement that hangs fails at once for everything that waits behind it, and the next call is served', async () => {
  const { call, runs } = failing(60, 1);
  expect(await outcomes([1, 2, 3].map(call))).toEqual(['rejected', 'rejected', 'rejected']);
  expect(runs).toEqual([[1]]);
  expect(await call(4)).toBe(4);
});

test('calls that are retried alone fail together as soon as one of them hangs', async () => {
  const runs: number[][] = [];
  const call = coalesce(
    async (inputs: number[]) => {
      runs.push(inputs);
      await pause(inputs.length === 1 && inputs[0] !== 1 ? 60 : 1);
      if (inputs[0] !== 1) throw new Error('no connection');
      return inputs;
    },
    { concurrency: 1, hungAfterMs: 50 },
  );
  expect(await outcomes([1, 2, 3, 4].map(call))).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  expect(runs).toEqual([[1], [2, 3, 4], [2]]);
});

test('calls of different keys do not share a statement', async () => {
  const runs: string[][] = [];
  const call = coalesce(
    async (inputs: string[]) => {
      runs.push(inputs);
      await turn();
      return inputs;
    },
    { concurrency: 1, keyOf: ([key = '']) => key },
  );
  await Promise.all(['a1', 'b1', 'a2', 'b2', 'a3'].map(call));
  expect(runs).toEqual([['a1'], ['b1', 'b2'], ['a2', 'a3']]);
});

test('the key of each call is computed once, however many calls of other keys wait', async () => {
  let computed = 0;
  const call = coalesce(async (inputs: number[]) => inputs, {
    concurrency: 4,
    keyOf: (n) => {
      computed += 1;
      return String(n);
    },
  });
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => call(n)));
  expect(computed).toBe(1_000);
});

test('a key with more calls than a statement serves takes turns with others', async () => {
  const runs: string[] = [];
  const call = coalesce(
    async (inputs: string[]) => {
      runs.push(`${inputs[0]} ${inputs.length}`);
      await turn();
      return inputs;
    },
    { concurrency: 1, keyOf: (key) => key },
  );
  await Promise.all(['a', ...Array.from({ length: 150 }, () => 'a'), 'b'].map(call));
  expect(runs).toEqual(['a 1', 'a 100', 'b 1', 'a 50']);
});
