// @ts-check
import exported from '@jest/test-sequencer';

// Its types describe its CommonJS form, Node gives the other one.
const TestSequencer = /** @type {typeof import('@jest/test-sequencer').default} */ (/** @type {unknown} */ (exported));

/** Folders whose files take longest, the longest first: they start whole worlds and wait for things to go wrong. */
const LONG = [/apps\/worker\//, /apps\/(admin|stack)\//, /apps\/api\//, /apps\//];

/** @param {{ path: string }} test */
const rank = ({ path }) => {
  const found = LONG.findIndex((folder) => folder.test(path));
  return found === -1 ? LONG.length : found;
};

/**
 * Starts long files first, so that none of them is left for the end with one core idle beside it. Jest does so by itself
 * once it has timed them; on a clean clone it would go by the size of the files, which says nothing about their time.
 */
export default class LongFirst extends TestSequencer {
  /** @override @param {import('@jest/test-result').Test[]} tests */
  async sort(tests) {
    const sorted = await super.sort(tests);
    return sorted.some(({ duration }) => duration !== undefined) ? sorted : sorted.sort((a, b) => rank(a) - rank(b));
  }
}
