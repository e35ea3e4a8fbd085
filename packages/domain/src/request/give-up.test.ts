import fc from 'fast-check';
import { decideLookup } from './decide-lookup.js';
import { abandonReasonOf, giveUpAtAcceptance, NEVER_ASKED_AFTER_MS } from './give-up.js';
import { anyOutcome, msIn, newRequest, POLICY } from './request.fixture.js';

const DAY_MS = POLICY.giveUpAfterMs;

test('a request that was never looked up ends after seven days, as such', () => {
  const waiting = newRequest({});
  expect(giveUpAtAcceptance(waiting, POLICY, msIn(20_000))).toEqual(msIn(NEVER_ASKED_AFTER_MS));
  const pending = newRequest({ state: 'pending', giveUpAt: msIn(NEVER_ASKED_AFTER_MS) });
  expect(abandonReasonOf(pending, msIn(NEVER_ASKED_AFTER_MS - 1))).toBeNull();
  expect(abandonReasonOf(pending, msIn(NEVER_ASKED_AFTER_MS))).toBe('NEVER_ASKED');
});

test('the time runs from a lookup that is open when the caller is answered 202', () => {
  expect(giveUpAtAcceptance(newRequest({ lookupStartedAt: msIn(3_000) }), POLICY, msIn(20_000))).toEqual(
    msIn(3_000 + DAY_MS),
  );
});

test("a test key's request is given up a fixed time after its 202", () => {
  const test = newRequest({ test: true, attempts: 2 });
  expect(giveUpAtAcceptance(test, POLICY, msIn(2_000))).toEqual(msIn(2_000 + DAY_MS));
  const late = { ...test, attempts: 0, state: 'pending' as const, giveUpAt: msIn(7_000) };
  expect(abandonReasonOf(late, msIn(9_000))).toBeNull();
  expect(abandonReasonOf({ ...late, attempts: 1 }, msIn(9_000))).toBe('UPSTREAM_NO_ANSWER');
});

test('law: what is given up as unanswered was looked up for all of the time, whenever its first lookup was', () => {
  const lookup = fc.record({ outcome: anyOutcome(), afterMs: fc.integer({ min: 0, max: DAY_MS }) });
  fc.assert(
    fc.property(
      fc.constantFrom('direct', 'batch', 'watch'),
      fc.integer({ min: 0, max: NEVER_ASKED_AFTER_MS }),
      fc.array(lookup, { minLength: 1, maxLength: 20 }),
      (origin, firstAt, lookups) => {
        let request = newRequest({ origin, state: 'pending', giveUpAt: msIn(NEVER_ASKED_AFTER_MS) });
        let now = firstAt;
        for (const { outcome, afterMs } of lookups) {
          const reason = abandonReasonOf(request, msIn(now));
          if (reason === 'NEVER_ASKED') expect(now).toBe(NEVER_ASKED_AFTER_MS);
          if (reason === 'UPSTREAM_NO_ANSWER') expect(now).toBeGreaterThanOrEqual(firstAt + DAY_MS);
          if (reason !== null) return;
          expect(now).toBeLessThan(request.attempts === 0 ? NEVER_ASKED_AFTER_MS : firstAt + DAY_MS);
          const ended = { outcome, startedAt: msIn(now), endedAt: msIn(now), backpressure: false };
          const { next, giveUpAt, ...stored } = decideLookup(request, ended, POLICY);
          if (next.kind !== 'retry') return;
          request = { ...request, ...stored, giveUpAt: giveUpAt ?? request.giveUpAt };
          now += afterMs;
        }
      },
    ),
  );
});
