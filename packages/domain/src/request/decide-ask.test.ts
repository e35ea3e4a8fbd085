import fc from 'fast-check';
import type { AskOutcome } from '../check/upstream.js';
import { type AskDecision, decideAsk } from './decide-ask.js';
import { anyOutcome, msIn, newRequest, POLICY, silence, verdict } from './request.fixture.js';
import type { CheckRequest } from './request.js';

const ask = (request: CheckRequest, outcome: AskOutcome, atMs = 100): AskDecision =>
  decideAsk(request, { outcome, startedAt: msIn(atMs - 50), endedAt: msIn(atMs), backpressure: false }, POLICY);

/** Asks one outcome after another, as the worker does, until the request settles or the outcomes are used up. */
const run = (start: CheckRequest, outcomes: AskOutcome[]) => {
  let request = start;
  const decisions: AskDecision[] = [];
  for (const [n, outcome] of outcomes.entries()) {
    const decision = ask(request, outcome, (n + 1) * 100);
    decisions.push(decision);
    if (decision.next.kind !== 'ask_again') break;
    const { next: _next, ...stored } = decision;
    request = { ...request, ...stored };
  }
  return decisions;
};

const last = (decisions: AskDecision[]) => decisions.at(-1);

describe('what is believed', () => {
  test('a valid answer is believed at once', () => {
    expect(ask(newRequest(), verdict(true)).next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'valid', name: 'ACME' },
    });
  });

  test('an invalid answer is asked once more, at once, and believed when the second agrees', () => {
    const first = ask(newRequest(), verdict(false));
    expect(first.next).toEqual({ kind: 'ask_again', at: msIn(100) });
    const decisions = run(newRequest(), [verdict(false), verdict(false)]);
    expect(last(decisions)?.next).toMatchObject({ kind: 'settle', answer: { verdict: 'invalid' } });
    expect(last(decisions)?.entries.map((entry) => [entry.source, entry.outcome])).toEqual([
      ['vies', 'invalid'],
      ['vies_confirmation', 'invalid'],
    ]);
  });

  test('two answers that disagree send the request to the background', () => {
    const second = last(run(newRequest(), [verdict(false), verdict(true)]));
    expect(second?.next.kind).toBe('ask_again');
    expect(second?.next).toHaveProperty('at', expect.any(Date));
    if (second?.next.kind === 'ask_again')
      expect(second.next.at.getTime()).toBeGreaterThanOrEqual(msIn(POLICY.windowMs).getTime());
    expect(second?.entries.at(-1)?.detail).toMatch(/Disagrees/);
  });

  test('a confirmation without an answer keeps the first answer waiting', () => {
    const decisions = run(newRequest(), [verdict(false), silence('timeout'), verdict(false)]);
    expect(decisions[1]?.unconfirmed?.verdict).toBe('invalid');
    expect(decisions[2]?.next).toMatchObject({ kind: 'settle', answer: { verdict: 'invalid' } });
  });

  test('INVALID_INPUT with a requester is asked again without it, and then believed', () => {
    const refused: AskOutcome = { kind: 'rejected', code: 'INVALID_INPUT' };
    const request = newRequest({ requester: 'DE123456788' });
    expect(ask(request, refused)).toMatchObject({ requesterDropped: true, next: { kind: 'ask_again' } });
    expect(last(run(request, [refused, refused]))?.next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'malformed' },
    });
    expect(last(run(request, [refused, verdict(true)]))?.next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'valid' },
    });
    expect(last(run(request, [refused, verdict(false)]))?.next).toMatchObject({ kind: 'ask_again' });
  });

  test('INVALID_INPUT without a requester is believed when the next answer agrees', () => {
    const refused: AskOutcome = { kind: 'rejected', code: 'INVALID_INPUT' };
    expect(run(newRequest(), [refused]).at(-1)?.next.kind).toBe('ask_again');
    expect(run(newRequest(), [refused, refused]).at(-1)?.next).toMatchObject({
      kind: 'settle',
      answer: { verdict: 'malformed' },
    });
  });

  test('INVALID_REQUESTER_INFO refuses the requester that was sent, and says nothing when none was', () => {
    const refused: AskOutcome = { kind: 'rejected', code: 'INVALID_REQUESTER_INFO' };
    expect(ask(newRequest({ requester: 'DE123456788' }), refused).next).toEqual({
      kind: 'refuse',
      reason: 'INVALID_REQUESTER',
    });
    expect(ask(newRequest(), refused).next.kind).toBe('ask_again');
  });

  test('a time-out after a saturated ask stays saturated in the entry', () => {
    const entry = last(run(newRequest(), [silence('saturated'), silence('timeout')]))?.entries[0];
    expect(entry).toMatchObject({ outcome: 'saturated', code: 'MS_MAX_CONCURRENT_REQ', attempts: 2 });
  });
});

describe('laws', () => {
  const anyRequest = fc.record({
    state: fc.constantFrom('waiting' as const, 'pending' as const),
    requester: fc.constantFrom(null, 'DE123456788'),
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

  test('invalid is recorded only after two answers in a row that say so', () => {
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

  test('the next ask never lies in the past, and never beyond giving up', () => {
    fc.assert(
      fc.property(anyRequest, anyOutcome(), fc.integer({ min: 1, max: 90_000_000 }), (over, outcome, atMs) => {
        const times = pendingTimes(over.state);
        const decision = ask(newRequest({ ...over, ...times }), outcome, atMs);
        if (decision.next.kind !== 'ask_again' || (times.giveUpAt && msIn(atMs) > times.giveUpAt)) return;
        expect(decision.next.at.getTime()).toBeGreaterThanOrEqual(msIn(atMs).getTime());
        if (times.giveUpAt) expect(decision.next.at.getTime()).toBeLessThanOrEqual(times.giveUpAt.getTime());
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
