// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

const DASHBOARD = path.join(ROOT, 'apps/dashboard');
const STAMP = path.join(DASHBOARD, 'dist/.inputs');
const IGNORED = new Set(['dist', 'node_modules']);

/** Other inputs of the build: packages that the pages import, and the page of docs that the settings page quotes. */
const OTHER_INPUTS = [
  'packages/domain/src',
  'packages/contracts/src',
  'packages/spreadsheet/src',
  'packages/evidence/src',
  'docs/webhooks.md',
];

const IS_TEST = /\.(test|fixture)\.tsx?$/;

/** @param {string} folder @returns {string[]} */
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !IGNORED.has(name) && !IS_TEST.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const at = path.join(folder, entry.name);
      return entry.isDirectory() ? filesIn(at) : [at];
    });

const fingerprint = () => {
  const hash = createHash('sha256').update(readFileSync(path.join(ROOT, 'package-lock.json')));
  const others = OTHER_INPUTS.map((input) => path.join(ROOT, input)).filter((input) => existsSync(input));
  for (const input of [DASHBOARD, ...others]) {
    for (const file of statSync(input).isDirectory() ? filesIn(input) : [input]) {
      if (statSync(file).isFile()) hash.update(`${path.relative(ROOT, file)}\0`).update(readFileSync(file));
    }
  }
  return hash.digest('hex');
};

/** Writes the compressed copies that the API serves, at the highest level because the files are few. */
const compress = () => {
  for (const file of filesIn(path.join(DASHBOARD, 'dist')).filter((name) => /\.(js|css|svg)$/.test(name))) {
    const text = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
};

/**
 * Builds the dashboard with its own `build` script, unless the output was built from the same files. The stamp file is inside
 * the output, so that both are deleted together. Returns true if it was built.
 */
export const buildDashboard = async () => {
  const manifest = path.join(DASHBOARD, 'package.json');
  if (!existsSync(manifest) || !JSON.parse(readFileSync(manifest, 'utf8')).scripts?.build) return false;
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return false;
  const npm = process.env['npm_execpath'];
  const [file, ...args] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  await runProgram('the build of the dashboard', file ?? 'npm', [...args, 'run', '--silent', 'build'], {
    cwd: DASHBOARD,
  });
  compress();
  writeFileSync(STAMP, wanted);
  return true;
};
