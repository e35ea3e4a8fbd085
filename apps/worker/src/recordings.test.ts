import { createRecordings } from './recordings.js';

test('drain waits for what is under way, also for what that starts', async () => {
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

test('work that fails is done again until it holds', async () => {
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

test('work that goes on failing is given up and said', async () => {
  const given: unknown[] = [];
  const recordings = createRecordings((error) => given.push(error));
  recordings.start(() => Promise.reject(new Error('Postgres is away')));
  await recordings.drain();
  expect(given).toEqual([new Error('Postgres is away')]);
});
