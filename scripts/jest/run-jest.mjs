// @ts-check
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const JEST = fileURLToPath(new URL('../../node_modules/jest/bin/jest.js', import.meta.url));
const CONFIG = fileURLToPath(new URL('../jest.config.mjs', import.meta.url));

/**
 * Makes the certificate authority of a run, which its processes trust; Node reads the file when they start.
 * @param {string} folder @returns {Promise<NodeJS.ProcessEnv>}
 */
const trustRunAuthority = async (folder) => {
  // Built by then, unlike when this file is loaded.
  const { createRunAuthority, TRUST_VARIABLE } = await import('@vat/testkit/run-authority');
  return { ...process.env, [TRUST_VARIABLE]: await createRunAuthority(folder) };
};

/**
 * Runs jest once, from source, with the configuration of the whole repository.
 *
 * A run also fails if jest does not end within `mayLingerMs` after its last result: then the global set-up, or a file that ran
 * in jest's own process, left something open. `leak-environment.mjs` reports leaks of single files.
 *
 * @param {readonly string[]} args for jest, e.g. a path or `-t name`
 * @param {{ config?: string, mayLingerMs?: number, output?: 'inherit' | 'ignore' }} [options] by default the repository's
 *   configuration, 10 s, and output passed through
 * @returns {Promise<{ passed: number, failed: number }>} `failed` is at least 1 if the run failed in any way
 */
export const runJest = async (args, { config = CONFIG, mayLingerMs = 10_000, output = 'inherit' } = {}) => {
  // Flags instead of NODE_OPTIONS: jest passes them to its workers, but programs that tests start do not inherit them.
  // WebAssembly runs too briefly in tests to be compiled twice, and a heap that grows from little is collected all the time.
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--no-wasm-dynamic-tiering',
    '--no-wasm-tier-up',
    '--wasm-lazy-validation',
    '--min-semi-space-size=16',
    '--max-semi-space-size=64',
  ];
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-run-'));
  const jest = spawn(process.execPath, [...flags, JEST, '--config', config, ...args], {
    env: await trustRunAuthority(folder),
    stdio: ['inherit', output, output, 'ipc'],
  });
  // Jest receives Ctrl-C itself (same process group). This process stays alive so that jest can clean up first.
  const wait = () => {};
  const pass = () => jest.kill('SIGTERM');
  process.on('SIGINT', wait).on('SIGTERM', pass);

  let counts = { passed: 0, failed: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  let watchdog;
  jest.on('message', (/** @type {typeof counts} */ message) => {
    counts = message;
    watchdog = setTimeout(() => {
      if (output === 'inherit')
        console.error(`Jest did not end within ${mayLingerMs / 1000} s of its last result: something was left open.`);
      jest.kill('SIGKILL');
    }, mayLingerMs);
  });

  const code = await new Promise((resolve, reject) => jest.on('error', reject).on('exit', resolve));
  clearTimeout(watchdog);
  rmSync(folder, { recursive: true });
  process.off('SIGINT', wait).off('SIGTERM', pass);
  if (code === 0) return counts;
  return { ...counts, failed: Math.max(counts.failed, 1) };
};
