import { newUuid, publicId } from '../ids.js';
import { attemptStamp, recomputeAnchors } from './evidence-jobs.js';
import type { MadeStamp } from './timestamp.js';

const NOW = new Date('2026-11-22T10:00:00.000Z');
const LATER = new Date('2026-11-22T10:01:00.000Z');
const now = () => NOW;
class Refused extends Error {}

const subjectId = newUuid();
const accountId = newUuid();
const stamp = {
  subjectId,
  kind: 'check',
  accountId,
  requestedAt: NOW,
  attempts: 0,
  madeAt: NOW,
  data: new Uint8Array(),
} as const;

/** Makes one attempt; `seen` names what was reported. */
const attempt = async (make: () => Promise<MadeStamp>, abort = new AbortController().signal) => {
  const seen: unknown[] = [];
  const attemptOnce = attemptStamp({
    makeStamp: make,
    reasonOf: (error) => (error instanceof Refused ? { error: error.message, called: true } : null),
    publishChange: (...change) => void seen.push(change),
    onAttempted: ({ kind }) => void seen.push(kind),
    now,
  });
  return { again: await attemptOnce(subjectId, abort), seen };
};

test('a time-stamp that was made is published to the pages of its account', async () => {
  expect(await attempt(async () => ({ kind: 'stamped', stamp }))).toEqual({
    again: null,
    seen: ['stamped', [accountId, 'checks', publicId('check', subjectId)]],
  });
});

test('the time-stamp of an anchor belongs to no page', async () => {
  const made: MadeStamp = { kind: 'stamped', stamp: { ...stamp, kind: 'anchor', accountId: null } };
  expect(await attempt(async () => made)).toEqual({ again: null, seen: ['stamped'] });
});

test('a failed attempt is repeated when the row says so', async () => {
  const made: MadeStamp = { kind: 'failed', stamp, error: 'away', nextAttemptAt: LATER };
  expect(await attempt(async () => made)).toEqual({ again: LATER, seen: ['failed'] });
});

test('nothing is reported when nothing was left to stamp', async () => {
  expect(await attempt(async () => ({ kind: 'gone' }))).toEqual({ again: null, seen: [] });
});

test('an attempt that this process aborted is repeated at once', async () => {
  const refused = () => Promise.reject(new Refused('aborted'));
  expect(await attempt(refused, AbortSignal.abort())).toEqual({ again: NOW, seen: [] });
  await expect(attempt(refused)).rejects.toThrow('aborted');
  await expect(attempt(() => Promise.reject(new Error('no database')), AbortSignal.abort())).rejects.toThrow('no');
});

test('a recomputation reports each difference, and the count of all of them when everything was read', async () => {
  const recompute = async (whole: boolean) => {
    const seen: unknown[] = [];
    const again = await recomputeAnchors({
      verify: async () => ({ differences: ['a leaf', 'a root'], leftOff: 3, whole }),
      onDifference: (difference) => void seen.push(difference),
      onRecomputed: (_report, found) => void seen.push(found),
      now,
    })(new AbortController().signal);
    return { again, seen };
  };
  expect(await recompute(true)).toEqual({ again: null, seen: ['a leaf', 'a root', 5] });
  expect(await recompute(false)).toEqual({ again: new Date(NOW.getTime() + 5_000), seen: ['a leaf', 'a root'] });
});

test('a recomputation that takes longer than its interval has no other one beside it, and one after it', async () => {
  const ends: (() => void)[] = [];
  const recompute = recomputeAnchors({
    verify: () =>
      new Promise<{ differences: string[]; leftOff: number; whole: boolean }>((resolve) => {
        ends.push(() => resolve({ differences: [], leftOff: 0, whole: true }));
      }),
    onDifference: () => undefined,
    onRecomputed: () => undefined,
    now,
  });
  const { signal } = new AbortController();
  const first = recompute(signal);
  const beside = recompute(signal);
  expect(ends).toHaveLength(1);
  expect(await beside).toBeNull();
  ends[0]?.();
  await first;
  const second = recompute(signal);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await second;
});
