import fc from 'fast-check';
import type { LookupOutcome } from '../check/upstream.js';
import { decideLookup, type LookupDecision } from './decide-lookup.js';
import { lookupOf } from './lookup.js';
import { anyOutcome, msIn, newRequest, POLICY, silence, verdict } from './request.fixture.js';
import type { CheckRequest } from './request.js';
import { malformedAnswer } from './request-check.js';

const decide = (request: CheckRequest, outcome: LookupOutcome, atMs = 100): LookupDecision =>
  decideLookup(request, { outcome, startedAt: msIn(atMs - 50), endedAt: msIn(atMs), backpressure: false }, POLICY);

/** Applies one outcome after another, as the worker does, until the request settles or the outcomes are used up. */
const run = (start: CheckRequest, outcomes: LookupOutcome[]) => {
  let request = start;
  const decisions: LookupDecision[] = [];
  for (const [n, outcome] of outcomes.entries()) {
    const decision = decide(request, outcome, (n + 1) * 100);
    decisions.push(decision);
    if (decision.next.kind !== 'retry') break;
    const { next: _next, ...stored } = decision;
    request = { ...request, ...stored };
  }
  return decisions;
};

const last = (decisions: LookupDecision[]) => decisions.at(-1);

describe('what is believed', () => {
  test('a valid answer is believed at once', () => {
    expect(decide(newRequest(), verdict(true)).next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'valid', name: 'ACME' },
    });
  });

  test('an invalid answer is looked up once more, at once, and believed when the second agrees', () => {
    const first = decide(newRequest(), verdict(false));
    expect(first.next).toEqual({ kind: 'retry', at: msIn(100) });
    const decisions = run(newRequest(), [verdict(false), verdict(false)]);
    expect(last(decisions)?.next).toMatchObject({ kind: 'settle', answer: { verdict: 'invalid' } });
    expect(last(decisions)?.entries.map((entry) => [entry.source, entry.outcome])).toEqual([
      ['vies', 'invalid'],
      ['vies_confirmation', 'invalid'],
    ]);
  });

  test('two answers that disagree send the request to the background', () => {
    const second = last(run(newRequest(), [verdict(false), verdict(true)]));
    expect(second?.next.kind).toBe('retry');
    expect(second?.next).toHaveProperty('at', expect.any(Date));
    if (second?.next.kind === 'retry')
      expect(second.next.at.getTime()).toBeGreaterThanOrEqual(msIn(POLICY.windowMs).getTime());
    expect(second?.entries.at(-1)?.detail).toMatch(/Disagrees/);
  });

  test('a confirmation without an answer leaves the first answer unconfirmed', () => {
    const decisions = run(newRequest(), [verdict(false), silence('timeout'), verdict(false)]);
    expect(decisions[1]?.unconfirmed?.verdict).toBe('invalid');
    expect(decisions[2]?.next).toMatchObject({ kind: 'settle', answer: { verdict: 'invalid' } });
  });

  const refused: LookupOutcome = { kind: 'rejected', code: 'INVALID_INPUT' };
  const trader = { name: 'ACME' };

  test.each([
    ['a requester', { requester: 'DE123456788' }, 'requester number'],
    ['trader details', { trader }, 'trader details'],
    ['both', { requester: 'DE123456788', trader }, 'requester number and trader details'],
  ])('INVALID_INPUT with %s is no word about the number: it is looked up alone', (_with, over, what) => {
    const request = newRequest(over);
    const first = decide(request, refused);
    expect(first).toMatchObject({ numberAlone: true, unconfirmed: null, next: { kind: 'retry', at: msIn(100) } });
    expect(first.entries).toMatchObject([{ outcome: 'rejected', detail: `Looked up again without ${what}.` }]);
    expect(lookupOf({ ...request, ...first })).toMatchObject({ requester: null, trader: null });

    expect(last(run(request, [refused, refused]))?.next.kind).toBe('retry');
    const malformed = last(run(request, [refused, refused, refused]));
    expect(malformed?.next).toMatchObject({ kind: 'settle', answer: { verdict: 'malformed' } });
    expect(malformed?.entries.map(({ source, attempts }) => [source, attempts])).toEqual([
      ['vies', 2],
      ['vies_confirmation', 1],
    ]);
    const valid = last(run(request, [refused, verdict(true)]));
    expect(valid?.next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'valid', consultationNumber: null, traderMatch: null },
    });
    expect(valid?.entries[0]?.detail).toBe(`Looked up without ${what}: VIES refused the request with them.`);
    expect(last(run(request, [refused, verdict(false)]))?.next.kind).toBe('retry');
    expect(last(run(request, [refused, verdict(false), refused]))?.next.kind).toBe('retry');
  });

  test('a malformed answer that an earlier release stored without recording what was sent does not count', () => {
    const { numberAlone: _unknown, ...unconfirmed } = malformedAnswer(msIn(0));
    const request = newRequest({ numberAlone: true, trader, unconfirmed, unconfirmedAt: msIn(0) });
    expect(last(run(request, [refused]))?.next.kind).toBe('retry');
    expect(last(run(request, [refused, refused]))?.next).toMatchObject({ answer: { verdict: 'malformed' } });
    expect(last(run(request, [verdict(true)]))?.next).toMatchObject({ answer: { verdict: 'valid' } });
  });

  test("a code of VIES's web layer is recorded unchanged in the entry", () => {
    const decision = decide(newRequest(), { ...refused, upstreamCode: 'VOW-ERR-2600' });
    expect(decision.entries).toMatchObject([{ outcome: 'malformed', code: 'VOW-ERR-2600' }]);
    const requester = newRequest({ requester: 'DE123456788' });
    const rejected: LookupOutcome = { kind: 'rejected', code: 'INVALID_REQUESTER_INFO', upstreamCode: 'VOW-ERR-2700' };
    expect(decide(requester, rejected)).toMatchObject({
      lastError: 'VOW-ERR-2700',
      entries: [{ outcome: 'rejected', code: 'VOW-ERR-2700' }],
      next: { kind: 'refuse' },
    });
  });

  test('a Retry-After delays the next lookup, whatever the answer, and the longer wait counts', () => {
    const wait = (ms: number) => ({ retryAfter: { ms, scope: 'request' as const } });
    expect(decide(newRequest(), { ...silence('unavailable'), ...wait(7_000) }).next).toEqual({
      kind: 'retry',
      at: msIn(7_100),
    });
    expect(decide(newRequest(), { ...silence('unavailable'), ...wait(100) }).next).toEqual({
      kind: 'retry',
      at: msIn(600),
    });
    expect(decide(newRequest(), { ...verdict(false), ...wait(2_000) }).next).toEqual({
      kind: 'retry',
      at: msIn(2_100),
    });
    // Beyond the window the caller is answered 202 as ever, and the background's own delay is longer.
    expect(decide(newRequest(), { ...silence('unavailable'), ...wait(60_000) }).next).toEqual({
      kind: 'retry',
      at: msIn(60_100),
    });
    const times = { acceptedAt: msIn(0), giveUpAt: msIn(40_000) };
    const pending = newRequest({ state: 'pending', attempts: 1, ...times });
    expect(decide(pending, { ...silence('unavailable'), ...wait(60_000) }).next).toEqual({
      kind: 'retry',
      at: msIn(40_000),
    });
  });

  test('INVALID_INPUT for a number sent alone is believed when the next answer agrees', () => {
    expect(run(newRequest(), [refused]).at(-1)?.next.kind).toBe('retry');
    expect(run(newRequest(), [refused, refused]).at(-1)?.next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'malformed' },
    });
  });

  test('INVALID_REQUESTER_INFO refuses the requester that was sent, and has no effect when none was', () => {
    const refused: LookupOutcome = { kind: 'rejected', code: 'INVALID_REQUESTER_INFO' };
    expect(decide(newRequest({ requester: 'DE123456788' }), refused).next).toEqual({
      kind: 'refuse',
      reason: 'INVALID_REQUESTER',
    });
    expect(decide(newRequest(), refused).next.kind).toBe('retry');
    expect(decide(newRequest({ trader }), refused)).toMatchObject({ numberAlone: true, next: { kind: 'retry' } });
  });

  test('a time-out after a saturated lookup stays saturated in the entry', () => {
    const entry = last(run(newRequest(), [silence('saturated'), silence('timeout')]))?.entries[0];
    expect(entry).toMatchObject({ outcome: 'saturated', code: 'MS_MAX_CONCURRENT_REQ', attempts: 2 });
  });
});

describe('laws', () => {
  const anyRequest = fc.record({
    state: fc.constantFrom('waiting' as const, 'pending' as const),
    requester: fc.constantFrom(null, 'DE123456788'),
    trader: fc.constantFrom(null, { name: 'ACME' }),
    windowRetries: fc.nat(8),
    backgroundRetries: fc.nat(20),
  });

  test('no answer is never a verdict, whatever came before', () => {
    fc.assert(
      fc.property(anyRequest, fc.array(anyOutcome(), { minLength: 1, maxLength: 12 }), (over, outcomes) => {
        const decisions = run(newRequest({ ...over, ...pendingTimes(over.state) }), outcomes);
        for (const [n, decision] of decisions.entries()) {
          if (decision.next.kind !== 'settle') continue;
          const outcome = outcomes[n];
          expect(outcome?.kind).not.toBe('no_answer');
          if (outcome?.kind === 'verdict')
            expect(decision.next.answer.verdict).toBe(outcome.valid ? 'valid' : 'invalid');
          else expect(outcome).toEqual({ kind: 'rejected', code: 'INVALID_INPUT' });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('invalid is recorded only after two invalid answers in a row', () => {
    fc.assert(
      fc.property(anyRequest, fc.array(anyOutcome(), { minLength: 1, maxLength: 12 }), (over, outcomes) => {
        const decisions = run(newRequest({ ...over, ...pendingTimes(over.state) }), outcomes);
        const end = decisions.at(-1)?.next;
        if (end?.kind !== 'settle' || end.answer.verdict !== 'invalid') return;
        const answers = outcomes.slice(0, decisions.length).filter((outcome) => outcome.kind === 'verdict');
        expect(answers.slice(-2).map((answer) => answer.valid)).toEqual([false, false]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the next lookup is never in the past, and never after the give-up time', () => {
    fc.assert(
      fc.property(anyRequest, anyOutcome(), fc.integer({ min: 1, max: 90_000_000 }), (over, outcome, atMs) => {
        const times = pendingTimes(over.state);
        const decision = decide(newRequest({ ...over, ...times }), outcome, atMs);
        // The first lookup determines the time.
        const giveUpAt = decision.giveUpAt ?? times.giveUpAt;
        if (decision.next.kind !== 'retry' || (giveUpAt && msIn(atMs) > giveUpAt)) return;
        expect(decision.next.at.getTime()).toBeGreaterThanOrEqual(msIn(atMs).getTime());
        if (giveUpAt && over.state === 'pending')
          expect(decision.next.at.getTime()).toBeLessThanOrEqual(giveUpAt.getTime());
      }),
      { numRuns: 2_000 },
    );
  });
});

function pendingTimes(state: 'waiting' | 'pending') {
  return state === 'waiting'
    ? { acceptedAt: null, giveUpAt: null }
    : { acceptedAt: msIn(POLICY.windowMs), giveUpAt: msIn(POLICY.windowMs + POLICY.giveUpAfterMs) };
}
