// @ts-check
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

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
 * True when node_modules holds what package-lock.json asks for, judged by the list that npm leaves in there (written last, so
 * that an interrupted install counts as none). Packages of other platforms may be missing.
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
  // Development packages are needed whatever the environment says about leaving them out: they build the rest.
  const all = [command, ...args, '--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const cli = process.env['npm_execpath'];
  // Under another package manager's name npm_execpath is not npm.
  if (cli?.endsWith('npm-cli.js')) return runProgram(`npm ${command}`, process.execPath, [cli, ...all]);
  return runProgram(`npm ${command}`, 'npm', all, { shell: process.platform === 'win32' });
};

/** Installs exactly what package-lock.json names. */
export const install = () => npm('ci');
