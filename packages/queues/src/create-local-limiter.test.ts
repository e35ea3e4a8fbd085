import fc from 'fast-check';
import { createLocalLimiter } from './create-rate-limiter.js';

const LIMIT = { calls: 10, windowMs: 1_000, holdMs: 80 };

/** Simulates calls at the given times; returns when each admitted call proceeds. */
const play = (arrivals: number[]): { admitted: number[]; refused: number } => {
  let clock = 0;
  const limiter = createLocalLimiter(LIMIT, () => clock);
  const admitted: number[] = [];
  let refused = 0;
  for (const at of arrivals) {
    clock = at;
    const decision = limiter.check('key');
    if (decision.admitted) admitted.push(at + decision.waitMs);
    else refused += 1;
  }
  return { admitted, refused };
};

const maxInOneSecond = (times: number[]): number =>
  Math.max(0, ...times.map((from) => times.filter((time) => time >= from && time < from + 1_000).length));

test('never admits more than ten calls in any sliding second, whatever the arrival times', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 260 }), { maxLength: 120 }), (gaps) => {
      let at = 0;
      const arrivals = gaps.map((gap) => (at += gap));
      expect(maxInOneSecond(play(arrivals).admitted)).toBeLessThanOrEqual(10);
    }),
    { numRuns: 1_000 },
  );
});

test('never refuses a steady ten calls a second with a jitter of 30 ms', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 300, maxLength: 300 }), (jitter) => {
      const arrivals = jitter.map((ms, n) => 1_000 + n * 100 + ms).sort((a, b) => a - b);
      expect(play(arrivals).refused).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('does not count a refused call, and returns how long to wait', () => {
  let clock = 0;
  const limiter = createLocalLimiter(LIMIT, () => clock);
  for (let n = 0; n < 10; n += 1) expect(limiter.check('key').admitted).toBe(true);
  clock = 400;
  for (let n = 0; n < 50; n += 1) expect(limiter.check('key')).toEqual({ admitted: false, waitMs: 600, remaining: 0 });
  clock = 1_000;
  expect(limiter.check('key')).toEqual({ admitted: true, waitMs: 0, remaining: 0 + 9 });
});

test('counts each key separately', () => {
  const limiter = createLocalLimiter(LIMIT, () => 0);
  for (let n = 0; n < 10; n += 1) limiter.check('one');
  expect(limiter.check('one').admitted).toBe(false);
  expect(limiter.check('two').admitted).toBe(true);
});
