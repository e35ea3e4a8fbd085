import { createPace } from './make-search.js';

test('spaces calls by the gap and reserves none that would wait too long', () => {
  const reserveCall = createPace({ gapMs: 10_000 });
  expect(reserveCall(0)).toBe(0);
  expect(reserveCall(9_000)).toBeNull();
  // The refused call reserved no time: the next one is one gap after the first, not two.
  const wait = reserveCall(10_000) ?? Number.NaN;
  expect(wait).toBeGreaterThan(9_000);
  expect(wait).toBeLessThanOrEqual(10_000);
  expect(reserveCall(10_000)).toBeNull();
});
