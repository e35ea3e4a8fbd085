import { AppError } from '@vat/domain';
import { type FairQueueOptions, fairQueue } from './fair-queue.js';

const refuse = () => new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: 2 } });
const wrong = () => new AppError('UNAUTHORIZED');
const never = new AbortController().signal;

/** A queue with its own clock, and work that ends when the test ends it. */
const openQueue = (options: Partial<FairQueueOptions> = {}) => {
  let at = 0;
  const queue = fairQueue({
    maxWaiting: 4,
    maxWaitMs: 60_000,
    tokens: { burst: 100, perSecond: 1_000 },
    refuse,
    hungAfterMs: 60_000,
    now: () => new Date(at),
    ...options,
  });
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const submit = (name: string, branches: string[], gone = never) =>
    queue
      .run({
        branches,
        check: () => null,
        run: () => {
          started.push(name);
          return new Promise<void>((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve())));
        },
        gone,
      })
      .then(
        () => 'done',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
  /** Ends the work under way, once it has started, and lets the next piece start. */
  const end = async (name: string, error?: Error): Promise<void> => {
    await new Promise(setImmediate);
    ends.get(name)?.(error);
    await new Promise(setImmediate);
  };
  return { queue, submit, started, end, pass: (ms: number) => (at += ms) };
};

test('work runs one piece at a time, and that of equal sources in the order of arrival', async () => {
  const { submit, started, end } = openQueue();
  const answers = [submit('a', ['v4', 'a']), submit('b', ['v4', 'b']), submit('c', ['v4', 'c'])];
  await end('a');
  expect(started).toEqual(['a', 'b']);
  await end('b');
  await end('c');
  expect(started).toEqual(['a', 'b', 'c']);
  expect(await Promise.all(answers)).toEqual(['done', 'done', 'done']);
});

test('a source that sends little comes before one that sends much, at each level of the tree', async () => {
  const { submit, started, end } = openQueue({ maxWaiting: 10 });
  const noisy = Array.from({ length: 4 }, (_, n) => submit(`noisy${n}`, ['v6', 'wide', `narrow${n}`]));
  const quiet = submit('quiet', ['v6', 'other wide', 'x']);
  const family = submit('family', ['v4', 'y', 'z']);
  for (const name of ['noisy0', 'family', 'quiet', 'noisy1', 'noisy2', 'noisy3']) await end(name);
  expect(started).toEqual(['noisy0', 'family', 'quiet', 'noisy1', 'noisy2', 'noisy3']);
  await Promise.all([...noisy, quiet, family]);
});

test('a full queue refuses work of the busiest source, and further work of it immediately', async () => {
  const { queue, submit, end, started } = openQueue();
  const flood = Array.from({ length: 7 }, (_, n) => submit(`flood${n}`, ['v4', 'one', `address${n}`]));
  expect(await flood[5]).toBe('TOO_MANY_SIGN_INS');
  expect(await flood[6]).toBe('TOO_MANY_SIGN_INS');
  const arrival = { branches: ['v4', 'one', 'address'], check: () => null };
  expect(queue.refuseAtOnce(arrival)?.code).toBe('TOO_MANY_SIGN_INS');
  expect(queue.refuseAtOnce({ ...arrival, branches: ['v4', 'two', 'address'] })).toBeNull();
  const owner = submit('owner', ['v4', 'two', 'address']);
  await end('flood0');
  expect(started).toEqual(['flood0', 'owner']);
  await end('owner');
  expect(await owner).toBe('done');
  for (const n of [1, 2, 3, 4]) await end(`flood${n}`);
  const answers = await Promise.all(flood);
  expect(answers.filter((answer) => answer === 'TOO_MANY_SIGN_INS')).toHaveLength(3);
});

test('refused work costs a token, other work does not; without a token the queue waits for the next one', async () => {
  const { submit, started, end, pass } = openQueue({ tokens: { burst: 2, perSecond: 10 } });
  for (const name of ['right0', 'right1', 'right2']) {
    const answer = submit(name, ['v4', name]);
    await end(name);
    expect(await answer).toBe('done');
  }
  const failed = submit('failed', ['v4', 'f']);
  await end('failed', new Error('Postgres is away'));
  expect(await failed).toContain('Postgres');
  for (const name of ['wrong0', 'wrong1']) {
    const answer = submit(name, ['v4', name]);
    await end(name, wrong());
    expect(await answer).toBe('UNAUTHORIZED');
  }
  const late = submit('late', ['v4', 'late']);
  expect(started).not.toContain('late');
  pass(200);
  // The queue's own timer, 100 ms after the last token was used.
  while (!started.includes('late')) await new Promise(setImmediate);
  await end('late');
  expect(await late).toBe('done');
});

test('work that waits too long is refused, and a caller that disconnects leaves the queue', async () => {
  const { submit, end, started } = openQueue({ maxWaitMs: 5 });
  const leaving = new AbortController();
  const first = submit('first', ['v4', 'a']);
  const left = submit('left', ['v4', 'b'], leaving.signal);
  const slow = submit('slow', ['v4', 'c']);
  leaving.abort();
  expect(await left).toContain('CallerGone');
  expect(await slow).toBe('TOO_MANY_SIGN_INS');
  await end('first');
  expect(await first).toBe('done');
  expect(started).toEqual(['first']);
});

test('work that waits behind hung work fails with it, unless the next piece ends', async () => {
  const { submit, end, started } = openQueue({ hungAfterMs: 0 });
  const first = ['hung', 'answered', 'behind'].map((name) => submit(name, ['v4', name]));
  await end('hung', new Error('no answer'));
  await end('answered');
  await end('behind', new Error('no answer'));
  expect(await Promise.all(first)).toEqual(['Error: no answer', 'done', 'Error: no answer']);
  const second = ['hung again', 'hanging', 'waiting'].map((name) => submit(name, ['v4', name]));
  await end('hung again', new Error('away'));
  expect(await second[2]).toMatch(/^Error/);
  await end('hanging', new Error('away'));
  await Promise.all(second);
  expect(started).not.toContain('waiting');
});

test('a branch takes turns with its siblings however busy it was before, and gains no credit while it is idle', async () => {
  const { submit, started, end } = openQueue({ maxWaiting: 20 });
  const wrongly = async (names: string[], branch: string) => {
    const answers = names.map((name) => submit(name, [branch, name]));
    for (const name of names) await end(name, wrong());
    await Promise.all(answers);
  };
  await wrongly(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'], 'a');
  const answers = ['b1', 'b2', 'b3', 'b4'].map((name) => submit(name, ['b', name]));
  await end('b1', wrong());
  const late = submit('a7', ['a', 'a7']);
  await end('b2', wrong());
  for (const name of ['a7', 'b3', 'b4']) await end(name, wrong());
  await Promise.all([...answers, late]);
  expect(started.slice(6)).toEqual(['b1', 'b2', 'a7', 'b3', 'b4']);
});
