import { type RequestNotifier, requestNotifier } from './request-notifier.js';

let stopping: AbortController;
let news: RequestNotifier;
beforeEach(() => {
  stopping = new AbortController();
  news = requestNotifier(stopping.signal);
});
afterEach(() => news.close());

const FAR = () => new Date(Date.now() + 60_000);
/** Below the second after which everybody is woken. */
const soon = () => new Date(Date.now() + 50);

test('a hint wakes every call that waits for the request, and no other', async () => {
  const calls = [news.open('a'), news.open('a')].map((call) => call.next(FAR()));
  let isOtherAwake = false;
  const other = news
    .open('b')
    .next(FAR())
    .then(() => {
      isOtherAwake = true;
    });
  const startedAt = performance.now();
  news.hint('a');
  await Promise.all(calls);
  expect(performance.now() - startedAt).toBeLessThan(500);
  expect(isOtherAwake).toBe(false);
  stopping.abort();
  await other;
});

test('each of two calls that wait for one request has its own deadline, and leaves the other waiting', async () => {
  const [first, second] = [news.open('a'), news.open('a')];
  const startedAt = performance.now();
  const long = first.next(FAR());
  await second.next(soon());
  const third = news.open('a');
  const closed = third.next(FAR());
  third.close();
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(500);
  news.hint('a');
  await long;
  expect(performance.now() - startedAt).toBeLessThan(900);
});

test('a call that ends takes nothing from one that began to wait after it was woken', async () => {
  const [first, second] = [news.open('a'), news.open('a')];
  await first.next(soon());
  const startedAt = performance.now();
  const waiting = second.next(FAR());
  first.close();
  news.hint('a');
  await waiting;
  expect(performance.now() - startedAt).toBeLessThan(500);
});

test('a hint that came before the call waits is not slept through', async () => {
  const startedAt = performance.now();
  news.hint('a');
  await news.open('a').next(FAR());
  expect(performance.now() - startedAt).toBeLessThan(500);
});
