// @ts-check
// `npm test`: prepares a fresh clone and runs the tests. Arguments go to jest: `npm test -- packages/domain -t normalise`.
// The last line is `N passed, N failed`; the exit code is 0 only if no test failed.
import { prepare } from './prepare.mjs';

/** @returns {Promise<{ passed: number, failed: number }>} */
const test = async () => {
  try {
    await prepare();
  } catch (error) {
    console.error(`[prepare] ${/** @type {Error} */ (error).message}`);
    return { passed: 0, failed: 1 };
  }
  // Loaded after prepare(), which installs its dependencies.
  const { runJest } = await import('./jest/run-jest.mjs');
  return runJest(process.argv.slice(2));
};

const { passed, failed } = await test();
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${passed} passed, ${failed} failed`);
