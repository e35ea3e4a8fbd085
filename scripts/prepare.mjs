// @ts-check
// Prepares a fresh clone for every command. It uses no packages, because it installs them.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildDashboard } from './prepare/build-dashboard.mjs';
import { generateClientTypes, generateDatabaseClient } from './prepare/generate.mjs';
import { holdLock } from './prepare/hold-lock.mjs';
import { install, isInstalled } from './prepare/install.mjs';
import { ROOT, runProgram, workspaces } from './prepare/run-program.mjs';

const REQUIRED = { major: 20, minor: 19 };

/** Throws if Node is older than "engines" in package.json allows; npm itself only warns. */
const checkNodeVersion = () => {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor)) return;
  throw new Error(`Node ${REQUIRED.major}.${REQUIRED.minor} or newer is needed; this is ${node}`);
};

/** Every package and app with an entry file, which TypeScript builds. The dashboard has its own build. */
const projects = () =>
  workspaces()
    .filter((project) => project !== 'apps/dashboard')
    .filter((project) => existsSync(path.join(ROOT, project, 'tsconfig.json')))
    .filter((project) => ['main.ts', 'index.ts'].some((entry) => existsSync(path.join(ROOT, project, 'src', entry))));

/** Runs `tsc -b`; fast if nothing changed. Throws an Error with the compiler's output. @param {string[]} projects */
const build = (...projects) =>
  runProgram('the build', process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...projects]);

/** @param {string} line */
const log = (line) => process.stderr.write(`[prepare] ${line}\n`);

/**
 * Installs, generates and builds everything that is not up to date; takes less than a second if all is. Commands that run at
 * the same time wait for each other. Writes only to stderr, and throws an Error whose message is shown to the user.
 *
 * @returns {Promise<void>}
 */
export const prepare = async () => {
  checkNodeVersion();
  await holdLock(
    async () => {
      if (!isInstalled()) {
        log('installing dependencies');
        await install();
      }
      if (await generateDatabaseClient()) log('generated the database client');
      if (await generateClientTypes(build)) log('generated the types of the client');
      await build(...projects());
      if (await buildDashboard()) log('built the dashboard');
    },
    () => log('waiting for another command that installs or builds in this folder'),
  );
};

/** {@link prepare}, or the end of this process with its message. */
export const prepareOrExit = () =>
  prepare().catch((error) => {
    process.stderr.write(`[prepare] ${error.message}\n`);
    process.exit(1);
  });
