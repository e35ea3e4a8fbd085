import fc from 'fast-check';
import { fitText } from './fit-text.js';

/** A font whose characters are half as wide as its size and whose lines are as high as its size. */
const measure = (text: string, size: number, width: number) => {
  const columns = Math.max(1, Math.floor(width / (size / 2)));
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / columns)) * size, 0);
};
const fitted = fitText(measure, ' … (cut)');

describe('fitText', () => {
  it('uses the largest size that fits, and otherwise truncates with a mark', () => {
    const box = { width: 100, height: 20, sizes: [10, 5] };
    expect(fitted('x'.repeat(40), box)).toEqual({ text: 'x'.repeat(40), size: 10 });
    expect(fitted('x'.repeat(41), box)).toEqual({ text: 'x'.repeat(41), size: 5 });
    const cut = fitted('x'.repeat(161), box);
    expect(cut).toEqual({ text: expect.stringMatching(/^x{152} … \(cut\)$/), size: 5 });
  });

  it('measures a text that has to be cut a few times, however long it is', () => {
    for (const length of [120, 3_000, 100_000]) {
      let measured = 0;
      const counted = fitText((...args) => {
        measured += 1;
        return measure(...args);
      }, '…');
      expect(counted('x'.repeat(length), { width: 100, height: 20, sizes: [10, 5] }).text).toMatch(
        /^x{10,}…$|^x{120}$/,
      );
      expect(measured).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(3_000)));
    }
  });

  it('never returns a text that is higher than its box', () => {
    const long = fc.integer({ min: 1, max: 40 }).chain((times) => fc.string().map((text) => text.repeat(times * 20)));
    fc.assert(
      fc.property(long, fc.integer({ min: 10, max: 60 }), (text, height) => {
        const { text: kept, size } = fitted(text, { width: 120, height, sizes: [10, 8, 6] });
        expect(measure(kept, size, 120)).toBeLessThanOrEqual(height);
      }),
    );
  });
});
