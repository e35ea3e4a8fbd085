import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '@vat/testkit';
import { createRecordings } from './recordings.js';

/** Starts recordings that each last until `endOne` ends them. */
const openWorks = (recordings: ReturnType<typeof createRecordings>, count: number) => {
  const running: (() => void)[] = [];
  for (let n = 0; n < count; n += 1)
    recordings.start(`request ${n}`, () => new Promise<void>((resolve) => running.push(resolve)));
  return {
    running,
    /** Ends the work that has been running longest. */
    endOne: async () => {
      running.shift()?.();
      await nextTurn();
    },
  };
};

test('two run at once, a third when one of them takes long, and all when the process stops', async () => {
  const recordings = createRecordings(() => undefined);
  const works = openWorks(recordings, 40);
  await Promise.resolve();
  expect(works.running).toHaveLength(2);
  await until('a third to run', () => works.running.length > 2);
  const drained = recordings.drain();
  await Promise.resolve();
  expect(works.running).toHaveLength(40);
  while (works.running.length > 0) await works.endOne();
  await drained;
});

test('of the lookups that wait for room, one goes on for each answer that was stored', async () => {
  const recordings = createRecordings(() => undefined);
  const stored = openWorks(recordings, 200);
  let admitted = 0;
  for (let n = 0; n < 50; n += 1) void recordings.room().then(() => (admitted += 1));
  await nextTurn();
  expect(admitted).toBe(0);
  await stored.endOne();
  expect(admitted).toBe(1);
  await stored.endOne();
  expect(admitted).toBe(2);
  while (stored.running.length > 0) await stored.endOne();
  await recordings.drain();
  expect(admitted).toBe(50);
});

test('drain waits for running work, and for work that it starts', async () => {
  const recordings = createRecordings(() => undefined);
  const done: string[] = [];
  recordings.start('request', async () => {
    await Promise.resolve();
    done.push('first');
    recordings.start('request', async () => void done.push('second'));
  });
  await recordings.drain();
  expect(done).toEqual(['first', 'second']);
});

test('work that fails is repeated until it succeeds', async () => {
  const given: unknown[] = [];
  const recordings = createRecordings((error) => given.push(error));
  let tries = 0;
  recordings.start('request', async () => {
    tries += 1;
    if (tries === 1) throw new Error('Postgres is away');
  });
  expect([recordings.isOpen('request'), recordings.isOpen('other')]).toEqual([true, false]);
  await recordings.drain();
  expect(recordings.isOpen('request')).toBe(false);
  expect({ tries, given }).toEqual({ tries: 2, given: [] });
});

test('work that keeps failing is given up and reported, and its job learns of it', async () => {
  const given: unknown[] = [];
  const away = new Error('Postgres is away');
  const recordings = createRecordings((error) => given.push(error), { giveUpAfterMs: 30, retryDelayMs: 10 });
  let tries = 0;
  recordings.start('request', () => {
    tries += 1;
    return Promise.reject(away);
  });
  await expect(recordings.complete('request', () => Promise.reject(away))).rejects.toBe(away);
  await recordings.drain();
  expect(given).toEqual([away, away]);
  expect(tries).toBeGreaterThan(1);
});

test('work whose job waits for its result is repeated until it succeeds', async () => {
  const recordings = createRecordings(() => undefined, { retryDelayMs: 1 });
  let tries = 0;
  const result = recordings.complete('request', async () => {
    tries += 1;
    if (tries < 5) throw new Error('Postgres is away');
    return 'stored';
  });
  expect(await result).toBe('stored');
});

test('a process that stops repeats work for a few seconds at most', async () => {
  const given: unknown[] = [];
  const recordings = createRecordings((error) => given.push(error), { retryDelayMs: 100 });
  recordings.start('request', () => Promise.reject(new Error('Postgres is away')));
  const startedAt = performance.now();
  await recordings.drain();
  expect(given).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
