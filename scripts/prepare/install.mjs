// @ts-check
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, runProgram } from './run-program.mjs';

/** @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean, peer?: boolean }} Entry */

/** @param {string} file @returns {Record<string, Entry> | null} */
const packagesOf = (file) => {
  try {
    return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return null;
  }
};

/**
 * True if node_modules contains the packages of package-lock.json, according to the list that npm writes there. npm writes it
 * last, so an interrupted installation counts as not installed. Packages of other platforms may be missing.
 */
export const isInstalled = () => {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([at, { version, link, optional, devOptional }]) => {
    if (!at.startsWith('node_modules/') && !at.includes('/node_modules/')) return true;
    const found = installed[at];
    if (!found) return Boolean(optional || devOptional);
    return link ? found.link === true : found.version === version;
  });
};

/** @param {string} command @param {string[]} args */
const npm = (command, ...args) => {
  // Development packages are always installed, because the build needs them.
  const all = [command, ...args, '--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const cli = process.env['npm_execpath'];
  // With another package manager npm_execpath is not npm.
  if (cli?.endsWith('npm-cli.js')) return runProgram(`npm ${command}`, process.execPath, [cli, ...all]);
  return runProgram(`npm ${command}`, 'npm', all, { shell: process.platform === 'win32' });
};

/** Installs exactly the packages of package-lock.json. */
export const install = () => npm('ci');
