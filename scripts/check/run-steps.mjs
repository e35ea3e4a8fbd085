// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkCompose } from './check-compose.mjs';
import { checkPackages } from './package-rules.mjs';
import { findSurplusLocks, validateDependencies, validateLock } from './validate-lock.mjs';
import { validateSecurity } from './validate-security.mjs';

/**
 * @typedef {{ held: boolean, output: string }} Outcome
 * @typedef {{ name: string, run: () => Promise<Outcome>, remedy: string }} Step
 */

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const BIOME = 'node_modules/@biomejs/biome/bin/biome';
const TSC = 'node_modules/typescript/bin/tsc';
const DOCS = 'scripts/docs.mjs';
const NOT_OURS = new Set(['node_modules', '.git', '.data', '.artifacts', 'dist', 'coverage']);

/**
 * Runs every step, one after the other and whatever became of the one before, and prints one line each. What a failed
 * step said follows its line.
 *
 * @param {{ fix: boolean }} options `fix` writes formatting and safe fixes where a step has some
 * @returns {Promise<boolean>} true when all of them held
 */
export const runSteps = async ({ fix }) => {
  const failed = [];
  for (const { name, run, remedy } of steps(fix ? ['--write'] : [])) {
    const startedAt = performance.now();
    const { held, output } = await run();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${held ? 'ok  ' : 'FAIL'}  ${name.padEnd(8)}${seconds.padStart(6)} s`);
    if (held) continue;
    failed.push(name);
    console.log(`\n${output.trim()}\n\n→ ${remedy}\n`);
  }
  console.log(failed.length === 0 ? 'check: all steps held' : `check: failed in ${failed.join(', ')}`);
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
    remedy: '`npm run check -- --fix` applies the safe fixes; the rest is by hand. The rules are in .biome.json.',
  },
  {
    name: 'imports',
    run: checkManifests,
    remedy: 'Move the code to the package that may do this, or change scripts/check/package-rules.mjs.',
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
    name: 'compose',
    run: checkSettings,
    remedy: 'Name the setting in docker-compose.yml, without a value to hand it on.',
  },
  {
    name: 'packages',
    run: validatePackages,
    remedy: 'The rules are in docs/dependencies.md, which names every direct dependency and install script.',
  },
  {
    name: 'security',
    run: validateThreats,
    remedy: 'docs/security.md: name the test that shows it, by its path.',
  },
  ...(existsSync(join(TOP, DOCS))
    ? [{ name: 'docs', run: () => node(DOCS, '--check'), remedy: `\`node ${DOCS}\` writes the generated pages again.` }]
    : []),
];

/** @returns {Promise<Outcome>} */
const checkManifests = async () => {
  const folders = ['packages', 'apps'].flatMap((place) =>
    readdirSync(join(TOP, place)).map((name) => `${place}/${name}`),
  );
  const manifests = ['.', ...folders]
    .filter((folder) => existsSync(join(TOP, folder, 'package.json')))
    .map((folder) => [folder, JSON.parse(readFileSync(join(TOP, folder, 'package.json'), 'utf8'))]);
  const lines = checkPackages(Object.fromEntries(manifests));
  return { held: lines.length === 0, output: lines.join('\n') };
};

/** After `types`, which builds what is read here. @returns {Promise<Outcome>} */
const checkSettings = async () => {
  const { SETTINGS } = await import('@vat/runtime');
  const lines = checkCompose(readFileSync(join(TOP, 'docker-compose.yml'), 'utf8'), Object.keys(SETTINGS));
  return { held: lines.length === 0, output: lines.join('\n') };
};

/** @param {string} file */
const readText = (file) => readFileSync(join(TOP, file), 'utf8');

/** @returns {Promise<Outcome>} */
const validatePackages = async () => {
  const { packages } = JSON.parse(readText('package-lock.json'));
  const manifests = ['.', ...Object.keys(packages).filter((at) => /^(apps|packages)\/[^/]+$/.test(at))].map((room) =>
    JSON.parse(readText(join(room, 'package.json'))),
  );
  const lines = [
    ...validateLock(packages),
    ...findSurplusLocks(listFiles()),
    ...validateDependencies({
      document: readText('docs/dependencies.md'),
      npmrc: readText('.npmrc'),
      manifests,
      overrides: manifests[0].overrides ?? {},
      packages,
    }),
  ];
  return { held: lines.length === 0, output: lines.join('\n') };
};

/** @returns {Promise<Outcome>} */
const validateThreats = async () => {
  const lines = validateSecurity(readText('docs/security.md'), (file) => existsSync(join(TOP, file)));
  return { held: lines.length === 0, output: lines.join('\n') };
};

/** The project's own files, from the top. @param {string} [folder] @returns {string[]} */
const listFiles = (folder = '') =>
  readdirSync(join(TOP, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const at = folder === '' ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(at) : [at];
  });

/** Every project with a tsconfig.json, so that a package which nobody imports yet is judged too. */
const projects = () =>
  ['packages', 'apps']
    .flatMap((place) => readdirSync(join(TOP, place)).map((name) => `${place}/${name}`))
    .filter((room) => existsSync(join(TOP, room, 'tsconfig.json')));

/**
 * Runs a program of this checkout and keeps what it says.
 *
 * @param {string} program path from the top level
 * @param {string[]} args
 * @returns {Promise<Outcome>}
 */
const node = (program, ...args) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: TOP, stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const said = [];
    child.stdout.on('data', (chunk) => said.push(chunk));
    child.stderr.on('data', (chunk) => said.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ held: code === 0, output: Buffer.concat(said).toString('utf8') }));
  });
