import { AppError } from '@vat/domain';
import fc from 'fast-check';
import { CallerGone } from './http/connection.js';
import { keyedSemaphore } from './turns.js';

test('work of one key never exceeds the limit and runs in the order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), turns: fc.nat(5), fails: fc.boolean() }), { maxLength: 30 }),
      async (max, jobs) => {
        const inTurn = keyedSemaphore(max);
        const running = new Map<string, number>();
        const begun = new Map<string, number[]>();
        const outcomes = await Promise.allSettled(
          jobs.map(({ key, turns, fails }, n) =>
            inTurn(key, async () => {
              running.set(key, (running.get(key) ?? 0) + 1);
              begun.set(key, [...(begun.get(key) ?? []), n]);
              expect(running.get(key)).toBeLessThanOrEqual(max);
              for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
              running.set(key, (running.get(key) ?? 0) - 1);
              if (fails) throw new Error('no');
              return n;
            }),
          ),
        );
        expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(jobs.map(({ fails }) => fails));
        for (const order of begun.values()) expect(order).toEqual([...order].sort((a, b) => a - b));
      },
    ),
    { numRuns: 50 },
  );
});

test('as many pieces of work as the limit allows run concurrently, and keys do not wait for each other', async () => {
  const inTurn = keyedSemaphore(2);
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let begun = 0;
  const held = ['a', 'a', 'a'].map((key) =>
    inTurn(key, () => {
      begun += 1;
      return opened;
    }),
  );
  await expect(inTurn('b', () => Promise.resolve('done'))).resolves.toBe('done');
  expect(begun).toBe(2);
  open();
  await Promise.all(held);
  expect(begun).toBe(3);
});

/** Work that ends when the test ends it. */
const held = () => {
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { work: () => ended, end: () => end(), fail: (error: Error) => fail(error) };
};

test('work that waits behind work that times out fails with it immediately', async () => {
  const inTurn = keyedSemaphore(1, { hungAfterMs: 0 });
  const { work, fail } = held();
  const first = inTurn('key', work);
  const begun: number[] = [];
  const waiting = Array.from({ length: 20 }, (_, n) => inTurn('key', async () => void begun.push(n)));
  fail(new Error('time-out'));
  const outcomes = await Promise.allSettled([first, ...waiting]);
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: new Error('time-out') })));
  expect(begun).toEqual([]);
  await expect(inTurn('key', () => Promise.resolve('after'))).resolves.toBe('after');
});

test.each([
  ['is refused, however late', 0, new AppError('BAD_REQUEST')],
  ['is for a caller who left', 0, new CallerGone()],
  ['fails at once', 60_000, new Error('no')],
])('work that %s ends for its own caller alone', async (_what, hungAfterMs, error) => {
  const inTurn = keyedSemaphore(1, { hungAfterMs });
  const { work, fail } = held();
  const first = inTurn('key', work);
  const second = inTurn('key', () => Promise.resolve('done'));
  fail(error);
  await expect(first).rejects.toBe(error);
  await expect(second).resolves.toBe('done');
});

test('the number of waiting pieces of work per key is limited; further work is refused, and a caller that disconnects leaves the queue', async () => {
  const inTurn = keyedSemaphore(1, { waiting: { most: 2, refuse: () => new AppError('RATE_LIMITED') } });
  const { work, end } = held();
  const first = inTurn('key', work);
  const done: string[] = [];
  const leaves = new AbortController();
  const second = inTurn('key', async () => void done.push('second'), leaves.signal);
  const third = inTurn('key', async () => void done.push('third'));
  await expect(inTurn('key', async () => void done.push('refused'))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  leaves.abort();
  await expect(second).rejects.toThrow();
  const fourth = inTurn('key', async () => void done.push('fourth'));
  await expect(inTurn('key', async () => void done.push('late'), AbortSignal.abort())).rejects.toThrow();
  end();
  await Promise.all([first, third, fourth]);
  expect(done).toEqual(['third', 'fourth']);
});
