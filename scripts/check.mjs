// @ts-check
// `npm run check`: format, lint, the package rules, types, docs; a line a step, and what to do about
// a failed one. `npm run check -- --fix` formats and applies safe fixes first.
import { prepare } from './prepare.mjs';

/** @returns {Promise<boolean>} */
const check = async () => {
  try {
    await prepare();
  } catch (error) {
    console.error(`[prepare] ${/** @type {Error} */ (error).message}`);
    return false;
  }
  // Not before: it needs what prepare() installs.
  const { runSteps } = await import('./check/run-steps.mjs');
  return runSteps({ fix: process.argv.includes('--fix') });
};

process.exitCode = (await check()) ? 0 : 1;
