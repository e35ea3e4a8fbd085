import { newUuid } from '../ids.js';
import {
  type Claim,
  type DeliverWebhookDeps,
  type DeliveryPermit,
  deliverWebhook,
  permitWaitMs,
  type SentAttempt,
} from './deliver-webhook.js';

const NOW = new Date('2026-11-22T10:00:00.000Z');
const LATER = new Date('2026-11-22T11:00:00.000Z');
const endpoint = { url: 'https://receiver.test/', secretSealed: new Uint8Array() };
const event = { eventId: newUuid(), eventType: 'check.completed', body: '{}' };
const claimed: Claim = { kind: 'claimed', attempt: { ...event, dueAt: new Date(NOW.getTime() - 40), endpoint } };
const sent = (statusCode: number | null, aborted = false): SentAttempt => ({
  attempt: {
    at: NOW,
    statusCode,
    durationMs: 7,
    error: null,
    address: null,
    timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: 5, total_ms: 7 },
    answer: new Uint8Array(),
    answerTruncated: false,
  },
  succeeded: statusCode === 204,
  aborted,
});
const job = { deliveryId: newUuid(), accountId: newUuid(), number: 1 };

type World = {
  claim: Claim;
  sent: SentAttempt | null;
  recorded: boolean;
  permit: 'taken' | 'full' | 'slow';
  enqueued: boolean;
  /** How often recording fails. */
  recordFailures: number;
};
/** Makes one attempt; `done` names what was called, in order. */
const attempt = async (world: Partial<World>, runs = 1) => {
  const done: string[] = [];
  const note = (what: string) => void done.push(what);
  let failures = world.recordFailures ?? 0;
  let pausedMs = 0;
  const permits: Record<World['permit'], DeliveryPermit> = {
    taken: { kind: 'taken', release: async (ms) => note(`permit released after ${ms}`) },
    full: { kind: 'full', waiting: 1 },
    slow: { kind: 'slow' },
  };
  const deps: DeliverWebhookDeps = {
    acquirePermit: async () => permits[world.permit ?? 'taken'],
    claim: async () => world.claim ?? claimed,
    release: async () => note('claim released'),
    record: async ({ plan }) => {
      failures -= 1;
      if (failures >= 0) throw new Error('Postgres is away');
      note(`recorded as ${plan.state}`);
      return world.recorded ?? true;
    },
    endRemoved: async () => {
      note('ended as removed');
      return 1;
    },
    send: async () => {
      note('sent');
      return world.sent === undefined ? sent(204) : world.sent;
    },
    enqueue: async ({ attempt: number, dueAt }) => {
      if (world.enqueued === false) throw new Error('Redis is away');
      note(`attempt ${number} enqueued in ${dueAt.getTime() - NOW.getTime()} ms`);
    },
    moveToRetries: async () => note('moved to the retries'),
    publishChange: () => note('published'),
    onClaimed: (ms) => note(`waited ${ms} ms`),
    onAttempted: (_job, { number }, outcome) => note(`attempt ${number}: ${outcome}`),
    onEnqueueFailure: () => note('not enqueued'),
    retryDelaysMs: [30_000],
    leaseMs: 13_000,
    pause: async (ms) => {
      pausedMs += ms;
    },
    random: () => 1,
    now: () => new Date(NOW.getTime() + pausedMs),
  };
  return { again: await deliverWebhook(deps)(job, runs), done };
};

test('a successful attempt ends the delivery', async () => {
  expect(await attempt({})).toEqual({
    again: null,
    done: [
      ...['waited 40 ms', 'sent', 'recorded as successful', 'attempt 1: successful', 'published'],
      'permit released after 7',
    ],
  });
});

test('a failed attempt is retried after its delay', async () => {
  const { again, done } = await attempt({ sent: sent(500) });
  expect(again).toBeNull();
  expect(done.slice(2)).toEqual([
    ...['recorded as pending', 'attempt 1: retry', 'published', 'attempt 2 enqueued in 30000 ms'],
    'permit released after 7',
  ]);
});

test('a retry that is not enqueued is left to the sweep', async () => {
  expect((await attempt({ sent: sent(500), enqueued: false })).done).toContain('not enqueued');
});

test('an attempt is sent once and recorded when Postgres is back, as long as its lease lasts', async () => {
  const { done } = await attempt({ recordFailures: 20 });
  expect(done).toEqual((await attempt({})).done);
  await expect(attempt({ recordFailures: 40 })).rejects.toThrow('Postgres is away');
});

test('an attempt that was recorded before changes nothing', async () => {
  expect((await attempt({ sent: sent(500), recorded: false })).done.slice(2)).toEqual([
    ...['recorded as pending', 'attempt 1: retry'],
    'permit released after 7',
  ]);
});

test('an attempt that this service aborted does not count and is made again at once', async () => {
  expect(await attempt({ sent: sent(null, true) })).toEqual({
    again: NOW,
    done: ['waited 40 ms', 'sent', 'claim released', 'permit released after null'],
  });
});

test.each([
  [1, 5_000],
  [2, 10_000],
  [20, 300_000],
])('an attempt whose secret cannot be read does not count; run %i is made again after %i ms', async (runs, waitMs) => {
  expect(await attempt({ sent: null }, runs)).toEqual({
    again: new Date(NOW.getTime() + waitMs),
    done: ['waited 40 ms', 'sent', 'claim released', 'permit released after null'],
  });
});

test('an answer that arrived before the abort counts', async () => {
  expect((await attempt({ sent: sent(204, true) })).done).toContain('recorded as successful');
});

test.each<[string, Claim, Date | null]>([
  ['not due yet', { kind: 'not_yet', at: LATER }, LATER],
  ['settled', { kind: 'settled' }, null],
  ['held', { kind: 'held' }, null],
])('nothing is sent for a delivery that is %s', async (_title, claim, again) => {
  expect(await attempt({ claim })).toEqual({ again, done: ['permit released after null'] });
});

test('a delivery whose endpoint was removed ends', async () => {
  const claim: Claim = { kind: 'claimed', attempt: { ...event, dueAt: NOW, endpoint: null } };
  expect(await attempt({ claim })).toEqual({
    again: null,
    done: ['ended as removed', 'published', 'permit released after null'],
  });
});

test('a first attempt to a slow endpoint moves to the retries', async () => {
  expect(await attempt({ permit: 'slow' })).toEqual({ again: null, done: ['moved to the retries'] });
});

test('a job without a permit waits', async () => {
  expect(await attempt({ permit: 'full' })).toEqual({ again: new Date(NOW.getTime() + 1_000), done: [] });
});

test('the wait for a permit grows with every run, up to a minute, and is scattered', () => {
  const waits = Array.from({ length: 20 }, (_, n) => permitWaitMs({ runs: n + 1, waiting: 1, random: 1 }));
  expect(waits[0]).toBe(1_000);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBe(60_000);
  expect(permitWaitMs({ runs: 1, waiting: 1, random: 0 })).toBe(500);
});

test.each([20, 400, 1_200])(
  '%i jobs that wait for one endpoint return at most forty times a second together',
  (waiting) => {
    const shortestMs = permitWaitMs({ runs: 1, waiting, random: 0 });
    expect((waiting * 1_000) / shortestMs).toBeLessThanOrEqual(40);
  },
);

test('jobs that wait for one endpoint return after a minute at the latest, however many they are', () => {
  expect(permitWaitMs({ runs: 1, waiting: 1_000_000, random: 1 })).toBe(60_000);
});
