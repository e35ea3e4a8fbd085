import { createRecordings } from './recordings.js';

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
