import fc from 'fast-check';
import { collectBytes } from './collect-bytes.js';

test('bytes are collected up to the limit and not beyond', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }),
      fc.integer({ min: 0, max: 400 }),
      (pieces, max) => {
        const collector = collectBytes(max);
        const taken: Uint8Array[] = [];
        for (const piece of pieces) {
          const fits = Buffer.concat([...taken, piece]).length <= max;
          expect(collector.add(piece)).toBe(fits);
          if (!fits) break;
          taken.push(piece);
        }
        expect(collector.bytes().equals(Buffer.concat(taken))).toBe(true);
      },
    ),
  );
});

test('two million chunks need no more memory than their bytes', () => {
  const collector = collectBytes(2_097_152);
  const piece = new Uint8Array([120]);
  const before = process.memoryUsage();
  for (let n = 0; n < 2_097_152; n += 1) collector.add(piece);
  const after = process.memoryUsage();
  expect(collector.bytes()).toHaveLength(2_097_152);
  expect(collector.add(piece)).toBe(false);
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(20_000_000);
});
