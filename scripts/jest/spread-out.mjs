// @ts-check
import exported from '@jest/test-sequencer';

/** @typedef {import('@jest/test-result').Test} Test */

// Its types describe its CommonJS form, Node gives the other one.
const TestSequencer = /** @type {typeof import('@jest/test-sequencer').default} */ (/** @type {unknown} */ (exported));

/**
 * Kinds of files by what they keep busy, and the seconds one takes where jest has not timed it. A worker's tests wait for
 * things to go wrong, pages keep a core and a half busy with a browser, and what lies in packages computes.
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
 * Spreads the files of each kind over the whole run, so that at any time some wait while others compute: those of one kind
 * side by side leave the cores idle, or so full that windows of half a second pass. Within a kind the longest is first,
 * so that none of them is left for the end.
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
