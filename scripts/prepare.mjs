// @ts-check
// What every command of a fresh clone needs first, in plain JavaScript without packages: those are what it installs.
import { build } from './prepare/build.mjs';
import { buildDashboard } from './prepare/build-dashboard.mjs';
import { checkNodeVersion } from './prepare/check-node-version.mjs';
import { generate } from './prepare/generate.mjs';
import { holdLock } from './prepare/hold-lock.mjs';
import { install, isInstalled } from './prepare/install.mjs';

/** @param {string} line */
const say = (line) => process.stderr.write(`[prepare] ${line}\n`);

/**
 * Installs, generates and builds whatever is not up to date; under a second when all is. Commands started side by side take
 * turns. Writes to stderr alone, and throws an Error whose message is meant for the person at the terminal.
 *
 * @returns {Promise<void>}
 */
export const prepare = async () => {
  checkNodeVersion();
  await holdLock(
    async () => {
      if (!isInstalled()) {
        say('installing dependencies');
        await install();
      }
      if (await generate()) say('generated the database client');
      await build();
      if (await buildDashboard()) say('built the dashboard');
    },
    () => say('waiting for another command that installs or builds in this folder'),
  );
};
