import { createPace } from './make-search.js';

test('spaces turns by the gap and takes none that would be waited for too long', () => {
  const takeTurn = createPace({ gapMs: 10_000 });
  expect(takeTurn(0)).toBe(0);
  expect(takeTurn(9_000)).toBeNull();
  // The refused one above took no turn: the next is one gap after the first, not two.
  const wait = takeTurn(10_000) ?? Number.NaN;
  expect(wait).toBeGreaterThan(9_000);
  expect(wait).toBeLessThanOrEqual(10_000);
  expect(takeTurn(10_000)).toBeNull();
});
