// @ts-check
// `npm run check`: format, lint, package rules, types and docs. Prints one line per step, and a remedy for each failed step.
// `npm run check -- --fix` formats and applies safe fixes first.
import { prepareOrExit } from './prepare.mjs';

await prepareOrExit();
// Loaded afterwards, since preparing installs its dependencies.
const { runSteps } = await import('./check/run-steps.mjs');
process.exitCode = (await runSteps({ fix: process.argv.includes('--fix') })) ? 0 : 1;
