// @ts-check
// `npm run test:faults`: every fault of `faults/rows.mjs` with the counts that a release requires (up to an hour). `npm test`
// runs the same files with small counts. Arguments select rows by number or files by a part of their name:
// `npm run test:faults -- 7 8`, `npm run test:faults -- sign-in-attack`.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FAULT_ROWS, filesOf, testsOf, UNTIMED } from './faults/rows.mjs';
import { prepare } from './prepare.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const numbers = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
const parts = args.filter((arg) => !/^\d+$/.test(arg));
const rows = FAULT_ROWS.filter(({ number }) => args.length === 0 || numbers.includes(number));

const missing = filesOf(FAULT_ROWS).filter((file) => !existsSync(path.join(ROOT, file)));
for (const file of missing) console.error(`A row has a test file that does not exist: ${file}`);
if (missing.length > 0) process.exit(1);

await prepare();
const { runJest } = await import('./jest/run-jest.mjs');
const folder = mkdtempSync(path.join(tmpdir(), 'vat-faults-'));
const figuresFile = path.join(folder, 'figures');
process.env.VAT_FAULTS = 'full';
// Figures of production, where busy functions are optimized early, and young objects have little memory.
process.env.VAT_TEST_PRODUCTION = 'yes';
process.env.VAT_FAULTS_FIGURES = figuresFile;
process.env.FUZZ_RUNS ??= '10000';
const startedAt = performance.now();

/** @typedef {{ name: string, assertionResults: { fullName: string, status: string, duration?: number }[] }} FileResult */
const [counts, testResults] = [{ passed: 0, failed: 0 }, /** @type {FileResult[]} */ ([])];
/**
 * @param {string} how an argument of jest
 * @param {readonly string[]} files or parts of their names
 */
const runFiles = async (how, files) => {
  if (files.length === 0) return;
  const results = path.join(folder, 'results.json');
  const patterns = files.map((file) => file.replaceAll('.', '\\.'));
  const { passed, failed } = await runJest([how, '--json', `--outputFile=${results}`, ...patterns]);
  counts.passed += passed;
  counts.failed += failed;
  if (!existsSync(results)) return;
  testResults.push(...JSON.parse(readFileSync(results, 'utf8')).testResults);
  rmSync(results);
};
const chosen = filesOf(rows);
for (const group of UNTIMED)
  await runFiles(
    '--maxWorkers=2',
    chosen.filter((file) => group.includes(file)),
  );
// One file at a time, because these tests load the machine and their figures are compared.
await runFiles('--runInBand', [...chosen.filter((file) => !UNTIMED.flat().includes(file)), ...parts]);
const { passed, failed } = counts;

/** @param {string} file */
const relative = (file) => path.relative(ROOT, file).replaceAll(path.sep, '/');
const ran = testResults.flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ fullName, status, duration }) => ({
    ...{ file: relative(name), title: fullName, status, ms: duration ?? 0 },
  })),
);
/** @type {{ file: string, figure: string }[]} */
const figures = (existsSync(figuresFile) ? readFileSync(figuresFile, 'utf8') : '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
  .map(({ testPath, figure }) => ({ file: relative(testPath), figure }));
rmSync(folder, { recursive: true, force: true });

let unshown = 0;
for (const row of FAULT_ROWS) {
  const { tests, without } = testsOf(row, ran);
  const isChosen = rows.includes(row);
  if (!isChosen && tests.length === 0) continue;
  const ok = tests.filter(({ status }) => status === 'passed').length;
  const seconds = tests.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  const isShown = ok === tests.length && (!isChosen || without.length === 0);
  if (!isShown) unshown += 1;
  console.log(`\n${isShown ? 'ok  ' : 'FAIL'} ${row.number}. ${row.fault}: ${row.passes}`);
  console.log(`     ${ok} of ${tests.length} tests passed, ${seconds.toFixed(0)} s`);
  for (const { title, file } of tests.filter(({ status }) => status !== 'passed'))
    console.log(`     failed: ${file}: ${title}`);
  if (isChosen) for (const selection of without) console.log(`     no test ran: ${selection}`);
  const files = new Set(tests.map(({ file }) => file));
  for (const { file, figure } of figures) if (files.has(file)) console.log(`     ${figure}`);
}
const minutes = (performance.now() - startedAt) / 60_000;
console.log(`\n${passed} passed, ${failed} failed, ${unshown} rows not shown, ${minutes.toFixed(1)} minutes`);
process.exitCode = failed === 0 && unshown === 0 ? 0 : 1;
