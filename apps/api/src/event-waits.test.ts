import { AppError, type EventWait } from '@vat/domain';
import { until } from '@vat/testkit';
import { type EventWaits, eventWaits } from './event-waits.js';

let stopping: AbortController;
let waits: EventWaits;
/** The newest positions in Postgres, and the accounts of each read. */
let positions: Map<string, string>;
let reads: string[][];
let failures: unknown[];
let isBroken: boolean;
let followed: Set<string>;
let publish: (accountId: string) => void;

const open = (pollIntervalMs: number): EventWaits =>
  eventWaits({
    subscribe: (onUpdates) => {
      publish = (accountId) => onUpdates(accountId, [{ topic: 'checks' }]);
      return {
        follow: async (accountId) => void followed.add(accountId),
        unfollow: (accountId) => void followed.delete(accountId),
        isListening: () => true,
      };
    },
    findNewestPositions: async (accountIds) => {
      reads.push([...accountIds]);
      if (isBroken) throw new Error('away');
      return accountIds.flatMap((accountId) => {
        const position = positions.get(accountId);
        return position === undefined ? [] : [{ accountId, position }];
      });
    },
    onReadFailure: (error) => failures.push(error),
    stopping: stopping.signal,
    limits: { perMode: 2, perProcess: 4 },
    now: () => new Date(),
    pollIntervalMs,
  });

beforeEach(() => {
  stopping = new AbortController();
  positions = new Map();
  [reads, failures, followed, isBroken] = [[], [], new Set(), false];
  waits = open(60_000);
});
afterEach(() => waits.close());

const FAR = () => new Date(Date.now() + 60_000);
const wait = (accountId: string, { testOnly = false, ...more }: Partial<EventWait> & { testOnly?: boolean } = {}) =>
  waits.awaitNewer({
    ...{ reader: { accountId, testOnly }, newest: '0', until: FAR(), cancelled: new AbortController().signal },
    ...more,
  });

test('a page update ends the calls of its account once there is a newer event', async () => {
  const calls = [wait('a'), wait('a')];
  let isOtherAwake = false;
  const other = wait('b').then(() => {
    isOtherAwake = true;
  });
  await until('the first read', () => reads.length > 0);
  publish('a');
  await until('a read that finds nothing new', () => reads.filter((accounts) => accounts.includes('a')).length > 1);
  positions.set('a', '1');
  publish('a');
  expect(await Promise.all(calls)).toEqual(['1', '1']);
  expect([isOtherAwake, [...followed]]).toEqual([false, ['b']]);
  stopping.abort();
  await other;
});

test('many page updates cause few reads, each for all accounts', async () => {
  const calls = [wait('a'), wait('b')];
  await until('the first read', () => reads.length > 0);
  const before = reads.length;
  for (let n = 0; n < 1_000; n += 1) publish(n % 2 === 0 ? 'a' : 'b');
  positions.set('a', '1').set('b', '1');
  await Promise.all(calls);
  expect(reads.length - before).toBeLessThanOrEqual(2);
});

test('without page updates the poll finds the event, also after reads that failed', async () => {
  waits.close();
  waits = open(20);
  isBroken = true;
  const call = wait('a');
  await until('two failures', () => failures.length >= 2);
  positions.set('a', '7');
  isBroken = false;
  expect(await call).toBe('7');
});

test('an event that was committed before the subscription was active is found at once', async () => {
  positions.set('a', '4');
  expect(await wait('a', { newest: '3' })).toBe('4');
});

test('a call ends at its deadline, when its client disconnects, and when the process stops', async () => {
  expect(await wait('a', { until: new Date(Date.now() + 30) })).toBeNull();
  expect(await wait('a', { until: new Date() })).toBeNull();
  const client = new AbortController();
  const call = wait('a', { cancelled: client.signal });
  client.abort();
  expect(await call).toBeNull();
  expect(await wait('a', { cancelled: client.signal })).toBeNull();
  const last = wait('a');
  stopping.abort();
  expect(await last).toBeNull();
  expect(await wait('a')).toBeNull();
  expect(followed.size).toBe(0);
});

test('more calls of an account or a process than may wait are refused, until one ends', async () => {
  const refused = expect.objectContaining({ code: 'RATE_LIMITED', extra: { retry_after: 1 } });
  const client = new AbortController();
  const calls = [wait('a'), wait('a', { cancelled: client.signal })];
  await expect(wait('a')).rejects.toEqual(refused);
  await expect(wait('a')).rejects.toBeInstanceOf(AppError);
  calls.push(wait('b'), wait('b'));
  await expect(wait('c')).rejects.toEqual(refused);
  client.abort();
  await calls[1];
  calls.push(wait('c'));
  stopping.abort();
  expect(await Promise.all(calls)).toEqual([null, null, null, null, null]);
});

test('calls with test keys leave those with live keys their places, and the reverse', async () => {
  const calls = [wait('a', { testOnly: true }), wait('a', { testOnly: true })];
  await expect(wait('a', { testOnly: true })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  calls.push(wait('a'), wait('a'));
  stopping.abort();
  expect(await Promise.all(calls)).toEqual([null, null, null, null]);
});
