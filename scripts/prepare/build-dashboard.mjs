// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

const DASHBOARD = path.join(ROOT, 'apps/dashboard');
const STAMP = path.join(DASHBOARD, 'dist/.inputs');
const LEFT_OUT = new Set(['dist', 'node_modules']);

/** @param {string} folder @returns {string[]} */
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.has(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const at = path.join(folder, entry.name);
      return entry.isDirectory() ? filesIn(at) : [at];
    });

const fingerprint = () => {
  const hash = createHash('sha256').update(readFileSync(path.join(ROOT, 'package-lock.json')));
  for (const file of filesIn(DASHBOARD)) {
    if (statSync(file).isFile()) hash.update(`${path.relative(DASHBOARD, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
};

/**
 * Builds the dashboard with its own `build` script, unless what is built came from these very files. The stamp lies in the
 * output, so that it goes when the output goes. Returns true when it had to.
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
  writeFileSync(STAMP, wanted);
  return true;
};
