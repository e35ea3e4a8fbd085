import { until } from '@vat/testkit';
import { type RequestNotifier, requestNotifier } from './request-notifier.js';

let stopping: AbortController;
let notifier: RequestNotifier;
/** The ids of each poll, and what the next ones find or fail with. */
let polls: string[][];
let find: (ids: string[]) => Promise<string[]>;
let failures: unknown[];
beforeEach(() => {
  stopping = new AbortController();
  polls = [];
  failures = [];
  find = async () => [];
  notifier = requestNotifier({
    findMoved: (ids) => {
      polls.push(ids);
      return find(ids);
    },
    onPollFailure: (error) => failures.push(error),
    stopping: stopping.signal,
    now: () => new Date(),
    pollIntervalMs: 100,
  });
});
afterEach(() => notifier.close());

/** Later than the time limit of a test: a call that is not woken fails it. */
const FAR = () => new Date(Date.now() + 3_600_000);
const soon = () => new Date(Date.now() + 50);

test('a notification wakes every call that waits for the request, and no other', async () => {
  const calls = [notifier.subscribe('a'), notifier.subscribe('a')].map((call) => call.next(FAR()));
  let isOtherAwake = false;
  const other = notifier
    .subscribe('b')
    .next(FAR())
    .then(() => {
      isOtherAwake = true;
    });
  notifier.notify('a');
  await Promise.all(calls);
  expect(isOtherAwake).toBe(false);
  stopping.abort();
  await other;
});

test('a call gets the check of a notification that it waits for; after an earlier one it reads Postgres', async () => {
  const check = { id: 'check', hash: Buffer.alloc(32), bytes: Buffer.from('{}') };
  const call = notifier.subscribe('a');
  const waiting = call.next(FAR());
  notifier.notify('a', check);
  expect(await waiting).toBe(check);
  notifier.notify('a', check);
  expect(await call.next(FAR())).toBeNull();
  expect(await call.next(soon())).toBeNull();
});

test('of two calls that wait for one request, each has its own deadline and ends without waking the other', async () => {
  const [first, second] = [notifier.subscribe('a'), notifier.subscribe('a')];
  const long = first.next(FAR());
  await second.next(soon());
  const third = notifier.subscribe('a');
  const closed = third.next(FAR());
  third.close();
  await closed;
  notifier.notify('a');
  await long;
});

test('closing a call that was woken does not affect a call that began to wait afterwards', async () => {
  const [first, second] = [notifier.subscribe('a'), notifier.subscribe('a')];
  await first.next(soon());
  const waiting = second.next(FAR());
  first.close();
  notifier.notify('a');
  await waiting;
});

test('a notification that arrives before the call waits is not missed', async () => {
  notifier.notify('a');
  await notifier.subscribe('a').next(FAR());
});

test('one poll reads the requests of all waiting calls, and wakes those whose request has moved', async () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => `request ${n}`);
  const moved = new Set(ids.filter((_id, n) => n % 3 === 0));
  find = async (polled) => polled.filter((id) => moved.has(id));
  const awake: string[] = [];
  const calls = ids.map(async (id) => {
    await notifier.subscribe(id).next(FAR());
    awake.push(id);
  });
  await until('a second poll', () => polls.length === 2);
  expect(polls).toEqual([ids, ids.filter((id) => !moved.has(id))]);
  expect(new Set(awake)).toEqual(moved);
  stopping.abort();
  await Promise.all(calls);
});

test('a poll that fails wakes nobody, the next one follows, and two never overlap', async () => {
  let finish: (ids: string[]) => void = () => undefined;
  find = () => Promise.reject(new Error('no connection'));
  let isAwake = false;
  const call = notifier
    .subscribe('a')
    .next(FAR())
    .then(() => {
      isAwake = true;
    });
  await until('a poll that failed', () => failures.length > 0);
  expect(isAwake).toBe(false);
  find = () => new Promise((resolve) => (finish = resolve));
  const before = polls.length;
  await until('the next poll', () => polls.length > before);
  const other = notifier.subscribe('b').next(soon());
  await other;
  await notifier.subscribe('b').next(new Date(Date.now() + 250));
  expect(polls.length).toBe(before + 1);
  finish(['a']);
  await call;
});

test('without waiting calls nothing is read', async () => {
  await notifier.subscribe('a').next(soon());
  const before = polls.length;
  const other = requestNotifier({
    findMoved: async () => [],
    onPollFailure: () => undefined,
    stopping: stopping.signal,
    now: () => new Date(),
    pollIntervalMs: 20,
  });
  await other.subscribe('b').next(new Date(Date.now() + 250));
  other.close();
  expect(polls.length).toBe(before);
});
