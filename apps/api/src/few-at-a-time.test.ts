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
