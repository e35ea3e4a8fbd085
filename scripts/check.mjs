// @ts-check
// `npm run check`: format, lint, package rules, types and docs. Prints one line per step, and a remedy for each failed step.
// `npm run check -- --fix` formats and applies safe fixes first.
import { prepare } from './prepare.mjs';

/** @returns {Promise<boolean>} */
const check = async () => {
  try {
    await prepare();
  } catch (error) {
    console.error(`[prepare] ${/** @type {Error} */ (error).message}`);
    return false;
  }
  // Loaded after prepare(), which installs its dependencies.
  const { runSteps } = await import('./check/run-steps.mjs');
  return runSteps({ fix: process.argv.includes('--fix') });
};

process.exitCode = (await check()) ? 0 : 1;
