import { AppError } from '@vat/domain';
import { until } from '@vat/testkit';
import fc from 'fast-check';
import { CallerGone } from './http/connection.js';
import { atHalfSpeed, oneAfterAnother, turnsByKey } from './turns.js';

const refuse = () => new AppError('RATE_LIMITED');

/** Work that ends when `end` is called. */
const openWork = () => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => ended, end };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('keys take turns, and work of one key runs in the order of arrival', async () => {
  const inTurn = turnsByKey({ maxRunning: 1, waiting: { max: 100, refuse } });
  const first = openWork();
  const begun: string[] = [];
  const all = [inTurn('a', first.work)];
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
    all.push(inTurn(name.charAt(0), async () => void begun.push(name)));
  first.end();
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('work beyond the waiting limit is refused, and callers that disconnect make room', async () => {
  const inTurn = turnsByKey({ maxRunning: 1, waiting: { max: 2, refuse } });
  const { work, end } = openWork();
  const leaving = new AbortController();
  const running = inTurn('a', work);
  const waiting = inTurn('b', () => Promise.resolve('b'));
  const left = inTurn('c', () => Promise.resolve('c'), leaving.signal);
  await expect(inTurn('d', work)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  leaving.abort();
  await expect(left).rejects.toBeInstanceOf(CallerGone);
  await expect(inTurn('d', work, leaving.signal)).rejects.toBeInstanceOf(CallerGone);
  const taken = inTurn('d', () => Promise.resolve('d'));
  end();
  await running;
  expect(await Promise.all([waiting, taken])).toEqual(['b', 'd']);
});

test('law: the limit is never exceeded, everything runs once, and no key waits behind two pieces of work of another', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(
        fc.record({
          key: fc.constantFrom('a', 'b', 'c'),
          turns: fc.nat(4),
          fails: fc.boolean(),
          leaves: fc.constantFrom(false, false, true),
        }),
        { maxLength: 30 },
      ),
      async (maxRunning, jobs) => {
        const inTurn = turnsByKey({ maxRunning, waiting: { max: 30, refuse } });
        let running = 0;
        const begun: string[] = [];
        const ended = jobs.map(({ key, turns, fails, leaves }) => {
          const gone = new AbortController();
          const job = inTurn(
            key,
            async () => {
              running += 1;
              begun.push(key);
              expect(running).toBeLessThanOrEqual(maxRunning);
              for (let turn = 0; turn < turns; turn += 1) await settled();
              running -= 1;
              if (fails) throw new Error('no');
            },
            gone.signal,
          );
          if (leaves) gone.abort();
          return job;
        });
        const outcomes = await Promise.allSettled(ended);
        const left = outcomes.filter((one) => one.status === 'rejected' && one.reason instanceof CallerGone);
        expect(begun).toHaveLength(jobs.length - left.length);
        // Everything arrives at once: as soon as the limit is reached, keys alternate while they have work waiting.
        const waiting = begun.slice(maxRunning);
        for (const [at, key] of waiting.entries()) {
          if (key !== waiting[at - 1]) continue;
          expect(new Set(waiting.slice(at))).toEqual(new Set([key]));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('work starts when the piece before has ended or is overdue', async () => {
  const next = oneAfterAnother(50);
  const begun: string[] = [];
  const begin = (name: string, { work }: ReturnType<typeof openWork>) =>
    next(async () => {
      begun.push(name);
      await work();
      return name;
    });
  const [quick, slow, last] = [openWork(), openWork(), openWork()];
  const ends = [begin('quick', quick), begin('slow', slow), begin('last', last)];
  expect(begun).toEqual(['quick']);
  quick.end();
  await expect(ends[0]).resolves.toBe('quick');
  await until('the work behind the slow piece', () => begun.length === 3);
  expect(begun).toEqual(['quick', 'slow', 'last']);
  const failed = next(() => Promise.reject(new Error('no')));
  last.end();
  slow.end();
  expect(await Promise.all(ends)).toEqual(['quick', 'slow', 'last']);
  await expect(failed).rejects.toThrow('no');
});

test('work at half speed waits as long as the work before took, and at once after one that failed', async () => {
  const inTurn = atHalfSpeed();
  const first = openWork();
  const times = { start: 0, end: 0, next: 0 };
  const one = inTurn(async () => {
    // Not before the call: on a busy machine the work may begin later.
    times.start = performance.now();
    await until('the clock to advance', () => performance.now() - times.start > 20);
    await first.work();
    times.end = performance.now();
  });
  const two = inTurn(() => {
    times.next = performance.now();
    return Promise.reject(new Error('no'));
  });
  const three = inTurn(() => Promise.resolve('three'));
  first.end();
  await one;
  await expect(two).rejects.toThrow('no');
  await expect(three).resolves.toBe('three');
  // Timers fire up to a millisecond early.
  expect(times.next - times.end).toBeGreaterThan(times.end - times.start - 2);
});
