import { AppError } from '@vat/domain';
import fc from 'fast-check';
import { fewAtATime } from './few-at-a-time.js';

test('never more than so many of one key at once, all of them in the order they came', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b'), turns: fc.nat(5), fails: fc.boolean() }), { maxLength: 30 }),
      async (most, jobs) => {
        const inTurn = fewAtATime(most);
        const running = new Map<string, number>();
        const begun = new Map<string, number[]>();
        const outcomes = await Promise.allSettled(
          jobs.map(({ key, turns, fails }, n) =>
            inTurn(key, async () => {
              running.set(key, (running.get(key) ?? 0) + 1);
              begun.set(key, [...(begun.get(key) ?? []), n]);
              expect(running.get(key)).toBeLessThanOrEqual(most);
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

test('as many as there are places run side by side, and keys do not wait for each other', async () => {
  const inTurn = fewAtATime(2);
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

/** Work that ends when it is told to. */
const held = () => {
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { work: () => ended, end: () => end(), fail: (error: Error) => fail(error) };
};

test('behind work that hangs nobody waits longer than its patience, however many wait', async () => {
  const inTurn = fewAtATime(1, { patienceMs: 50 });
  const { work, fail } = held();
  const first = inTurn('key', work);
  const startedAt = performance.now();
  const waiting = Array.from({ length: 20 }, () => inTurn('key', () => Promise.resolve('late')));
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'));
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  fail(new Error('time-out'));
  await expect(first).rejects.toThrow('time-out');
  await expect(inTurn('key', () => Promise.resolve('after'))).resolves.toBe('after');
});

test('a queue that moves is waited for longer than the patience, refusals included', async () => {
  const inTurn = fewAtATime(1, { patienceMs: 100 });
  const startedAt = performance.now();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) =>
      inTurn('key', async () => {
        // What takes time is the point here.
        const until = performance.now() + 20;
        while (performance.now() < until) await new Promise(setImmediate);
        if (n % 2 === 0) throw new AppError('BAD_REQUEST');
      }),
    ),
  );
  expect(performance.now() - startedAt).toBeGreaterThan(200);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
  expect(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))).toEqual(
    Array.from({ length: 6 }, () => 'BAD_REQUEST'),
  );
});

test('no more than so many of a key wait; whoever comes then is refused, and whoever leaves loses its turn', async () => {
  const inTurn = fewAtATime(1, { waiting: { most: 2, refuse: () => new AppError('RATE_LIMITED') } });
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
