import { createRecordings } from './recordings.js';

test('drain waits for running work, and for work that it starts', async () => {
  const recordings = createRecordings(() => undefined);
  const done: string[] = [];
  recordings.start(async () => {
    await Promise.resolve();
    done.push('first');
    recordings.start(async () => void done.push('second'));
  });
  await recordings.drain();
  expect(done).toEqual(['first', 'second']);
});

test('work that fails is repeated until it succeeds', async () => {
  const given: unknown[] = [];
  const recordings = createRecordings((error) => given.push(error));
  let tries = 0;
  recordings.start(async () => {
    tries += 1;
    if (tries === 1) throw new Error('Postgres is away');
  });
  await recordings.drain();
  expect({ tries, given }).toEqual({ tries: 2, given: [] });
});

test('work that keeps failing is given up and reported', async () => {
  const given: unknown[] = [];
  const recordings = createRecordings((error) => given.push(error));
  recordings.start(() => Promise.reject(new Error('Postgres is away')));
  await recordings.drain();
  expect(given).toEqual([new Error('Postgres is away')]);
});
