import { timingSafeEqual } from 'node:crypto';
import { matchSignatures } from './verify.js';

const digest = (fill: number, last = fill) => {
  const bytes = Buffer.alloc(32, fill);
  bytes[31] = last;
  return bytes;
};

/** Compares with the real function and records the number of bytes of each comparison. */
const watched = () => {
  const compared: number[] = [];
  const match = matchSignatures({
    equal: (left, right) => {
      compared.push(left.length);
      return timingSafeEqual(left, right);
    },
  });
  return { compared, match };
};

describe('matchSignatures', () => {
  it('compares whole digests in constant time, wherever they differ', () => {
    const { compared, match } = watched();
    const candidates = [digest(1), digest(2), digest(1, 2)];
    expect(candidates.map((candidate) => match([candidate], [digest(1)]))).toEqual([true, false, false]);
    expect(compared).toEqual([32, 32, 32]);
  });

  it('compares every pair, also after a match', () => {
    const { compared, match } = watched();
    expect(match([digest(1), digest(2)], [digest(1), digest(3), digest(4)])).toBe(true);
    expect(compared).toHaveLength(6);
  });

  it('matches nothing of another length, and does not throw', () => {
    const { match } = watched();
    expect(match([digest(1).subarray(0, 31), Buffer.alloc(0)], [digest(1)])).toBe(false);
  });

  it('matches nothing when one side is empty', () => {
    const { match } = watched();
    expect([match([], [digest(1)]), match([digest(1)], [])]).toEqual([false, false]);
  });
});
