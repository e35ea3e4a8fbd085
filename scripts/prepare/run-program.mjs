// @ts-check
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top folder of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folders of all packages and apps. */
export const workspaces = () =>
  ['packages', 'apps'].flatMap((group) => readdirSync(path.join(ROOT, group)).map((name) => `${group}/${name}`));

/**
 * Runs a program in the top folder of the project without printing its output. Throws an Error with the output if it fails.
 *
 * @param {string} what names the step in the error, e.g. `the build`
 * @param {string} file
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, shell?: boolean }} [options]
 * @returns {Promise<void>}
 */
export const runProgram = (what, file, args, { env = process.env, cwd = ROOT, shell = false } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) => reject(new Error(`${what} failed: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${what} failed (${signal ?? `exit code ${code}`}):\n${output.trim()}`));
    });
  });
