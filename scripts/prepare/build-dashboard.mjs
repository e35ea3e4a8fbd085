// @ts-check
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { filesIn, fingerprint } from './fingerprint.mjs';
import { ROOT, runProgram } from './run-program.mjs';

const DASHBOARD = path.join(ROOT, 'apps/dashboard');
const STAMP = path.join(DASHBOARD, 'dist/.inputs');
/** The pages, the packages that they import, and the page of docs that the settings page quotes. */
const INPUTS = [
  'package-lock.json',
  'apps/dashboard',
  'packages/domain/src',
  'packages/contracts/src',
  'packages/spreadsheet/src',
  'packages/evidence/src',
  'docs/webhooks.md',
];

/**
 * Writes the compressed copies that the API serves, at the highest level because the files are few. Not with the calls that
 * block: they take longer than a lock is valid on a busy machine, and another command would build into the same folder.
 */
const compress = async () => {
  const files = filesIn(path.join(DASHBOARD, 'dist')).filter((name) => /\.(js|css|svg)$/.test(name));
  await Promise.all(
    files.map(async (file) => {
      const text = readFileSync(file);
      writeFileSync(`${file}.gz`, await promisify(gzip)(text, { level: 9 }));
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(text, { params }));
    }),
  );
};

/**
 * Builds the dashboard with its own `build` script, unless the output was built from the same files. The stamp file is inside
 * the output, so that both are deleted together. Returns true if it was built.
 */
export const buildDashboard = async () => {
  const wanted = fingerprint(INPUTS);
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return false;
  const npm = process.env['npm_execpath'];
  const [file, ...args] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  await runProgram('the build of the dashboard', file ?? 'npm', [...args, 'run', '--silent', 'build'], {
    cwd: DASHBOARD,
  });
  await compress();
  writeFileSync(STAMP, wanted);
  return true;
};
