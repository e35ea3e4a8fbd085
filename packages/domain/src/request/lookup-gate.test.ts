import fc from 'fast-check';
import type { LookupOutcome } from '../check/upstream.js';
import { DOWN_AFTER, enterGate, gateAfter, isDown, type LookupGate } from './lookup-gate.js';
import { anyOutcome, silence, verdict } from './request.fixture.js';

const DELAYS = [5_000, 10_000, 20_000, 40_000, 60_000];

const after = (outcomes: readonly LookupOutcome[], now = 0): LookupGate | null =>
  outcomes.reduce<LookupGate | null>((gate, outcome) => gateAfter(gate, outcome, DELAYS, now), null);
const times = (count: number, outcome: LookupOutcome) => Array.from({ length: count }, () => outcome);

test('the fifth unanswered lookup in a row closes the gate, and an answer opens it', () => {
  const down = after(times(5, silence('timeout')));
  expect(isDown(after(times(4, silence('timeout'))))).toBe(false);
  expect(isDown(down)).toBe(true);
  expect(enterGate(down, DELAYS, 1).waitMs).toBe(4_999);
  expect(gateAfter(down, verdict(true), DELAYS, 1)).toBeNull();
  expect(after([...times(4, silence('timeout')), verdict(false), ...times(4, silence('timeout'))])?.unanswered).toBe(4);
});

test('the time between probes grows to the last delay', () => {
  let gate = after(times(DOWN_AFTER, silence('unavailable')));
  const waits = Array.from({ length: 7 }, () => {
    const { waitMs } = enterGate(gate, DELAYS, 0);
    gate = gateAfter({ ...(gate as LookupGate), opensAt: 0 }, silence('unavailable'), DELAYS, 0);
    return waitMs;
  });
  expect(waits).toEqual([...DELAYS, 60_000, 60_000]);
});

test('the process that probes may die: the next probe follows after the delay', () => {
  const down = after(times(DOWN_AFTER, silence('timeout')));
  const probing = enterGate(down, DELAYS, 5_000);
  expect(probing.waitMs).toBe(0);
  expect(enterGate(probing.gate, DELAYS, 5_001).waitMs).toBe(4_999);
  expect(enterGate(probing.gate, DELAYS, 10_000).waitMs).toBe(0);
});

test('a saturated member state is not down, and its pauses grow to two seconds', () => {
  const pauses = [1, 5, 6, 11, 16, 1_000].map((count) => after(times(count, silence('saturated')))?.opensAt);
  expect(pauses).toEqual([250, 250, 500, 1_000, 2_000, 2_000]);
  expect(isDown(after(times(1_000, silence('saturated'))))).toBe(false);
});

test('a gate that was written while the clock was an hour ahead holds nothing up', () => {
  const hour = 3_600_000;
  const saturated = after(times(20, silence('saturated')), hour);
  expect(enterGate(saturated, DELAYS, 0)).toEqual({ waitMs: 0, gate: { ...saturated, opensAt: 0 } });
  expect(gateAfter(saturated, silence('saturated'), DELAYS, 0)?.opensAt).toBe(2_000);
  const down = after(times(DOWN_AFTER, silence('timeout')), hour);
  const probing = enterGate(down, DELAYS, 0);
  expect([probing.waitMs, probing.gate?.opensAt]).toEqual([0, 5_000]);
  expect(enterGate(probing.gate, DELAYS, 1).waitMs).toBe(4_999);
});

test('numbers that are blocked close nothing', () => {
  expect(after(times(50, silence('blocked', 'VAT_BLOCKED')))).toBeNull();
});

test('a Retry-After about the member state holds it back, also beside an answer', () => {
  const retryAfter = { ms: 60_000, scope: 'member_state' as const };
  expect(gateAfter(null, { ...verdict(true), retryAfter }, DELAYS, 7)?.opensAt).toBe(60_007);
  expect(gateAfter(null, { ...silence('saturated'), retryAfter }, DELAYS, 7)?.opensAt).toBe(60_007);
  expect(gateAfter(null, { ...verdict(true), retryAfter: { ms: 60_000, scope: 'request' } }, DELAYS, 7)).toBeNull();
});

test('law: while a member state is down, at most one lookup begins in every delay, by any number of processes', () => {
  const event = fc.oneof(
    fc.record({ waitMs: fc.integer({ min: 0, max: 3_000 }) }),
    fc.constant('enter' as const),
    fc.record({ outcome: anyOutcome() }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      let [gate, now, lastProbe]: [LookupGate | null, number, number] = [null, 0, Number.NEGATIVE_INFINITY];
      for (const step of events) {
        if (step === 'enter') {
          const wasDown = isDown(gate);
          const entered = enterGate(gate, DELAYS, now);
          gate = entered.gate;
          expect(entered.waitMs).toBeGreaterThanOrEqual(0);
          expect(entered.waitMs).toBeLessThanOrEqual(60_000);
          if (!wasDown || entered.waitMs > 0) continue;
          expect(now - lastProbe).toBeGreaterThanOrEqual(5_000);
          lastProbe = now;
        } else if ('waitMs' in step) now += step.waitMs;
        else {
          gate = gateAfter(gate, step.outcome, DELAYS, now);
          if (gate === null) lastProbe = Number.NEGATIVE_INFINITY;
        }
      }
    }),
  );
});
