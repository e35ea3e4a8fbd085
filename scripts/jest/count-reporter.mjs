// @ts-check

/**
 * Reports the numbers of passed and failed tests to the process that started jest (scripts/test.mjs). A file that could not
 * run counts as one failed test.
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
