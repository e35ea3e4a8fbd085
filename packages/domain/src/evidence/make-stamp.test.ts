import type { PendingStamp, StampFacts, StampOutcome } from './evidence.js';
import { makeStamp, type StampData } from './timestamp.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const FACTS: StampFacts = {
  ...{ genTime: NOW, accuracyMs: null, serial: '01', policy: '1.2.3', authority: 'An authority', development: false },
};
const pending = (attempts: number): PendingStamp => ({
  subjectId: 'a subject',
  kind: 'anchor',
  accountId: null,
  requestedAt: NOW,
  attempts,
  madeAt: NOW,
  data: new Uint8Array(32),
});

class Refused extends Error {}

/** One try of a stamp; what was recorded of it and what it returned. */
const tryOnce = async (
  stamp: StampData,
  { found = pending(0) as PendingStamp | null, isRecorded = true, signal = new AbortController().signal } = {},
) => {
  const recorded: StampOutcome[] = [];
  const made = await makeStamp({
    findPending: async () => found,
    stamp,
    record: async (_stamp, outcome) => {
      recorded.push(outcome);
      return isRecorded;
    },
    reasonOf: (error) =>
      error instanceof Refused ? { error: error.message, called: error.message !== 'no authority called' } : null,
    retryDelaysMs: [10_000, 60_000, 300_000],
    now: () => NOW,
  })('a subject', signal);
  return { made, recorded };
};
const failing = (message: string) => async () => {
  throw new Refused(message);
};
const inMs = (ms: number) => new Date(NOW.getTime() + ms);

test('a token is recorded with its facts', async () => {
  const token = new Uint8Array([1, 2]);
  const { made, recorded } = await tryOnce(async () => ({ token, ...FACTS }));
  expect(recorded).toEqual([{ kind: 'stamped', token, facts: FACTS }]);
  expect(made).toEqual({ kind: 'stamped', stamp: pending(0) });
});

test('failed tries come back by the schedule, whose last delay repeats', async () => {
  const delays = await Promise.all(
    [0, 1, 2, 3, 50].map(async (attempts) => {
      const { recorded } = await tryOnce(failing('away'), { found: pending(attempts) });
      return recorded;
    }),
  );
  const failed = (ms: number) => [{ kind: 'failed', error: 'away', counts: true, nextAttemptAt: inMs(ms) }];
  expect(delays).toEqual([10_000, 60_000, 300_000, 300_000, 300_000].map(failed));
});

test('while the circuit is open no attempt is counted, and attempts are at least a minute apart', async () => {
  const { recorded } = await tryOnce(failing('no authority called'));
  expect(recorded).toEqual([
    { kind: 'failed', error: 'no authority called', counts: false, nextAttemptAt: inMs(60_000) },
  ]);
});

test('a token that verifiers would refuse, because it is older than what it stamps, is not recorded; the next attempt is made when it cannot be', async () => {
  const stamp = async () => ({ token: new Uint8Array(), ...FACTS });
  const madeIn = async (ms: number) => (await tryOnce(stamp, { found: { ...pending(0), madeAt: inMs(ms) } })).recorded;
  expect(await madeIn(360_000)).toMatchObject([{ kind: 'stamped' }]);
  expect(await madeIn(360_001)).toEqual([
    {
      ...{ kind: 'failed', counts: true, nextAttemptAt: inMs(360_001) },
      error: "stamped_early: the authority's time is 360001 ms before what it stamps was made",
    },
  ]);
});

test('a stamp that exists already, or that another process made meanwhile, is gone', async () => {
  const stamp = async () => ({ token: new Uint8Array(), ...FACTS });
  expect((await tryOnce(stamp, { found: null })).made).toEqual({ kind: 'gone' });
  expect((await tryOnce(stamp, { isRecorded: false })).made).toEqual({ kind: 'gone' });
});

test('an error unrelated to the authority, and an aborted attempt, are rethrown and not recorded', async () => {
  const fault = async () => {
    throw new TypeError('no database');
  };
  await expect(tryOnce(fault)).rejects.toThrow('no database');
  await expect(tryOnce(failing('called off'), { signal: AbortSignal.abort() })).rejects.toThrow(Refused);
});
