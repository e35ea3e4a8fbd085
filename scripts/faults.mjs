// @ts-check
// `npm run test:faults`: the fault and concurrency tests with the counts that a release requires (up to an hour).
// `npm test` runs the same files with small counts. Arguments select files: `npm run test:faults -- crash`.
import { prepare } from './prepare.mjs';

const FILES = [
  'apps/api/src/dashboard/sign-in-attack\\.test',
  'apps/api/src/openapi\\.test',
  'apps/worker/src/(batches-crash|cap|cap\\.laws|crash|dead-worker|fleet|postgres-away|redis-away|settle-race|shutdown|sweep|watches-crash)\\.test',
  'packages/db/src/request/request-race\\.test',
  'packages/vies/src/verdict-rules\\.laws\\.test',
  'scripts/check/statement-plans\\.test',
];

await prepare();
const { runJest } = await import('./jest/run-jest.mjs');
process.env.VAT_FAULTS = 'full';
process.env.FUZZ_RUNS ??= '10000';
const chosen = process.argv.slice(2);
// One file at a time, because the tests load the machine and their figures are compared.
const { passed, failed } = await runJest(['--runInBand', ...(chosen.length > 0 ? chosen : FILES)]);
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${passed} passed, ${failed} failed`);
