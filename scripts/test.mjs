// @ts-check
// `npm test`: everything from a fresh clone on. Arguments go to jest: `npm test -- packages/domain -t normalise`.
// The last line is `N passed, N failed`; the exit code says the same.
import { prepare } from './prepare.mjs';

/** @returns {Promise<{ passed: number, failed: number }>} */
const test = async () => {
  try {
    await prepare();
  } catch (error) {
    console.error(`[prepare] ${/** @type {Error} */ (error).message}`);
    return { passed: 0, failed: 1 };
  }
  // Not before: it needs what prepare() installs.
  const { runJest } = await import('./jest/run-jest.mjs');
  return runJest(process.argv.slice(2));
};

const { passed, failed } = await test();
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${passed} passed, ${failed} failed`);
