// @ts-check
// Prepares a fresh clone for every command. It uses no packages, because it installs them.
import { build } from './prepare/build.mjs';
import { buildDashboard } from './prepare/build-dashboard.mjs';
import { checkNodeVersion } from './prepare/check-node-version.mjs';
import { generate } from './prepare/generate.mjs';
import { holdLock } from './prepare/hold-lock.mjs';
import { install, isInstalled } from './prepare/install.mjs';

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
      if (await generate()) log('generated the database client');
      await build();
      if (await buildDashboard()) log('built the dashboard');
    },
    () => log('waiting for another command that installs or builds in this folder'),
  );
};
