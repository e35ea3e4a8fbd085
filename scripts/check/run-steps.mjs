// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, workspaces } from '../prepare/run-program.mjs';
import { checkCompose } from './check-compose.mjs';
import { findMutualImports } from './folder-imports.mjs';
import { checkPackages } from './package-rules.mjs';
import { findMissingFiles, findUntestedAttacks } from './validate-documents.mjs';
import { findSurplusLocks, validateDependencies, validateLock } from './validate-lock.mjs';

/**
 * @typedef {{ ok: boolean, output: string }} Outcome
 * @typedef {{ name: string, run: () => Promise<Outcome>, remedy: string }} Step
 */

const BIOME = 'node_modules/@biomejs/biome/bin/biome';
const TSC = 'node_modules/typescript/bin/tsc';
const DOCS = 'scripts/docs.mjs';
const IGNORED = new Set(['node_modules', '.git', '.data', '.artifacts', 'dist', 'coverage']);

/**
 * Runs all steps in order, also after a failed one, and prints one line for each, followed by the output of a failed step.
 *
 * @param {{ fix: boolean }} options `fix` writes formatting and safe fixes
 * @returns {Promise<boolean>} true if all steps succeeded
 */
export const runSteps = async ({ fix }) => {
  const failed = [];
  for (const { name, run, remedy } of steps(fix ? ['--write'] : [])) {
    const startedAt = performance.now();
    const { ok, output } = await run();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(8)}${seconds.padStart(6)} s`);
    if (ok) continue;
    failed.push(name);
    console.log(`\n${output.trim()}\n\n→ ${remedy}\n`);
  }
  console.log(failed.length === 0 ? 'check: all steps passed' : `check: failed in ${failed.join(', ')}`);
  return failed.length === 0;
};

/** @param {string[]} write @returns {Step[]} */
const steps = (write) => [
  {
    name: 'format',
    run: () => node(BIOME, 'check', '--linter-enabled=false', '--max-diagnostics=20', ...write),
    remedy: '`npm run check -- --fix` formats.',
  },
  {
    name: 'lint',
    run: () => node(BIOME, 'lint', '--error-on-warnings', '--diagnostic-level=warn', '--max-diagnostics=50', ...write),
    remedy: '`npm run check -- --fix` applies the safe fixes; fix the others by hand. The rules are in .biome.json.',
  },
  {
    name: 'imports',
    run: checkImports,
    remedy:
      'Move the code to a package that may use the dependency, or change scripts/check/package-rules.mjs. Of two folders, move what ' +
      'one of them needs.',
  },
  {
    name: 'types',
    run: () => node(TSC, '--build', ...projects()),
    remedy: '`npm run build` shows the same.',
  },
  {
    name: 'tests',
    run: () => node(TSC, '--project', 'scripts/check/tsconfig.tests.json'),
    remedy: 'Types of tests, bench and scripts: `npx tsc -p scripts/check/tsconfig.tests.json` shows the same.',
  },
  {
    name: 'columns',
    run: checkColumns,
    remedy: 'Declare the columns as Postgres names them; the types of columns are in packages/db/src/query.ts.',
  },
  {
    name: 'compose',
    run: checkSettings,
    remedy: 'Name the setting in docker-compose.yml; without a value it is passed on.',
  },
  {
    name: 'packages',
    run: validatePackages,
    remedy: 'The rules are in docs/dependencies.md, which names every direct dependency and install script.',
  },
  {
    name: 'documents',
    run: validateDocuments,
    remedy: 'Documents name only files that exist; docs/security.md names a test for each attack.',
  },
  ...(existsSync(join(ROOT, DOCS))
    ? [{ name: 'docs', run: () => node(DOCS, '--check'), remedy: `\`node ${DOCS}\` writes the generated pages again.` }]
    : []),
];

/** @param {readonly string[]} lines one for each problem @returns {Outcome} */
const outcomeOf = (lines) => ({ ok: lines.length === 0, output: lines.join('\n') });

/** @returns {Promise<Outcome>} */
const checkImports = async () => {
  const manifests = ['.', ...workspaces()]
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .map((folder) => [folder, JSON.parse(readText(join(folder, 'package.json')))]);
  const sources = listFiles().filter((file) => /^(apps|packages)\/[^/]+\/src\//.test(file));
  return outcomeOf([
    ...checkPackages(Object.fromEntries(manifests)),
    ...findMutualImports(Object.fromEntries(sources.map((file) => [file, readText(file)]))),
  ]);
};

/** Runs after `types`, which builds the packages that are read here. @returns {Promise<Outcome>} */
const checkColumns = async () => {
  const { verifyStatements } = await import('./verify-statements.mjs');
  return outcomeOf(await verifyStatements().catch((error) => [String(error)]));
};

/** Runs after `types`, which builds the package that is read here. @returns {Promise<Outcome>} */
const checkSettings = async () => {
  const { SETTINGS } = await import('@vat/runtime');
  return outcomeOf(checkCompose(readText('docker-compose.yml'), Object.keys(SETTINGS)));
};

/** @param {string} file */
const readText = (file) => readFileSync(join(ROOT, file), 'utf8');

/** @returns {Promise<Outcome>} */
const validatePackages = async () => {
  const { packages } = JSON.parse(readText('package-lock.json'));
  const manifests = ['.', ...Object.keys(packages).filter((at) => /^(apps|packages)\/[^/]+$/.test(at))].map((folder) =>
    JSON.parse(readText(join(folder, 'package.json'))),
  );
  return outcomeOf([
    ...validateLock(packages),
    ...findSurplusLocks(listFiles()),
    ...validateDependencies({
      document: readText('docs/dependencies.md'),
      npmrc: readText('.npmrc'),
      manifests,
      overrides: manifests[0].overrides ?? {},
      packages,
    }),
  ]);
};

/** @returns {Promise<Outcome>} */
const validateDocuments = async () => {
  return outcomeOf([
    ...listFiles()
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) => findMissingFiles(file, readText(file), (named) => existsSync(join(ROOT, named)))),
    ...findUntestedAttacks(readText('docs/security.md')),
  ]);
};

/** The project's own files, relative to the top folder. @param {string} [folder] @returns {string[]} */
const listFiles = (folder = '') =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const at = folder === '' ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(at) : [at];
  });

/** Every project with a tsconfig.json, so that a package without importers is checked too. */
const projects = () => workspaces().filter((folder) => existsSync(join(ROOT, folder, 'tsconfig.json')));

/**
 * Runs a program of this checkout and returns its output.
 *
 * @param {string} program path from the top folder
 * @param {string[]} args
 * @returns {Promise<Outcome>}
 */
const node = (program, ...args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString('utf8') }));
  });
