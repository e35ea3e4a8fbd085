// @ts-check

/**
 * Tells the process that started jest (scripts/test.mjs) how many tests passed and failed. A file that could not run at
 * all counts as one failed test: it holds at least one that nobody saw pass.
 */
export default class CountReporter {
  /** @param {Set<unknown>} _contexts @param {import('@jest/reporters').AggregatedResult} results */
  onRunComplete(_contexts, results) {
    const counts = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    };
    process.send?.(counts, () => process.disconnect?.());
  }
}
