// @ts-check
import exported from '@jest/test-sequencer';

/** @typedef {import('@jest/test-result').Test} Test */

// Its types describe the CommonJS module, but Node loads the ES module.
const TestSequencer = /** @type {typeof import('@jest/test-sequencer').default} */ (/** @type {unknown} */ (exported));

/**
 * Kinds of test files by their load, and the estimated seconds of a file that jest has not timed yet. Tests of the worker
 * mostly wait, tests of pages use one and a half cores for a browser, and tests of packages compute.
 */
const KINDS = [
  { of: /apps\/worker\//, seconds: 14 },
  { of: /apps\/dashboard\/src\/[^/]+$/, seconds: 25 },
  { of: /apps\/api\//, seconds: 9 },
  { of: /apps\//, seconds: 6 },
  { of: /./, seconds: 1.5 },
];

/** @param {Test[]} tests of one kind @param {number} seconds @returns {{ test: Test, at: number }[]} */
const place = (tests, seconds) => {
  const lengths = tests.map(({ duration }) => (duration === undefined ? seconds : duration / 1000));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  return tests.map((test, index) => {
    const at = before / total;
    before += lengths[index] ?? 0;
    return { test, at };
  });
};

/**
 * Spreads the files of each kind evenly over the run, so that at any time some files wait while others compute. Files of one
 * kind at the same time would leave the cores idle, or overload them so that windows of half a second pass. Within a kind
 * the longest file runs first.
 */
export default class SpreadOut extends TestSequencer {
  /** @override @param {Test[]} tests */
  async sort(tests) {
    const left = new Set(await super.sort(tests));
    const placed = KINDS.flatMap(({ of, seconds }) => {
      const kind = [...left].filter(({ path }) => of.test(path));
      for (const test of kind) left.delete(test);
      return place(kind, seconds);
    });
    return placed.sort((one, other) => one.at - other.at).map(({ test }) => test);
  }
}
