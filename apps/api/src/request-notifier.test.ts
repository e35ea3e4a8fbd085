import { type RequestNotifier, requestNotifier } from './request-notifier.js';

let stopping: AbortController;
let notifier: RequestNotifier;
beforeEach(() => {
  stopping = new AbortController();
  notifier = requestNotifier(stopping.signal);
});
afterEach(() => notifier.close());

const FAR = () => new Date(Date.now() + 60_000);
/** Before the first poll, which wakes every call. */
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
  const startedAt = performance.now();
  notifier.notify('a');
  await Promise.all(calls);
  expect(performance.now() - startedAt).toBeLessThan(500);
  expect(isOtherAwake).toBe(false);
  stopping.abort();
  await other;
});

test('of two calls that wait for one request, each has its own deadline and ends without waking the other', async () => {
  const [first, second] = [notifier.subscribe('a'), notifier.subscribe('a')];
  const startedAt = performance.now();
  const long = first.next(FAR());
  await second.next(soon());
  const third = notifier.subscribe('a');
  const closed = third.next(FAR());
  third.close();
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(500);
  notifier.notify('a');
  await long;
  expect(performance.now() - startedAt).toBeLessThan(900);
});

test('closing a call that was woken does not affect a call that began to wait afterwards', async () => {
  const [first, second] = [notifier.subscribe('a'), notifier.subscribe('a')];
  await first.next(soon());
  const startedAt = performance.now();
  const waiting = second.next(FAR());
  first.close();
  notifier.notify('a');
  await waiting;
  expect(performance.now() - startedAt).toBeLessThan(500);
});

test('a notification that arrives before the call waits is not missed', async () => {
  const startedAt = performance.now();
  notifier.notify('a');
  await notifier.subscribe('a').next(FAR());
  expect(performance.now() - startedAt).toBeLessThan(500);
});
