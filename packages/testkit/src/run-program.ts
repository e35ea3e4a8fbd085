import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. The relative path is the same from src and from dist. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The variable with the folder of the bundled programs (`bundlePrograms`); unset outside a test run. */
export const PROGRAMS_VARIABLE = 'VAT_TEST_PROGRAMS';

/** The bundle of all programs, which run in the process of a test (`start-shared.ts`). */
export const SHARED = 'shared';

/**
 * Node flags for programs that run for seconds. The query compiler of the database client is WebAssembly. By default Node
 * recompiles it for speed during the first statements, which took a third of the run time of such a program, and validates all
 * of it at the start, though a program runs a small part (13 ms of processor time, 5 without). Node also
 * optimizes busy functions early, and collects a heap that grows from one MiB dozens of times during loading.
 */
export const PROGRAM_FLAGS = [
  '--no-wasm-dynamic-tiering',
  '--no-wasm-tier-up',
  '--wasm-lazy-validation',
  '--interrupt-budget=2000000',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
] as const;

/** Set by a run that measures: its programs run without {@link PROGRAM_FLAGS}, which delay the optimization of busy functions. */
export const PRODUCTION_VARIABLE = 'VAT_TEST_PRODUCTION';

/** The file to run: for `apps/<name>/dist/main.js` in a test run the bundled program, which starts faster. */
export const programFile = (file: string): string => {
  const programs = process.env[PROGRAMS_VARIABLE];
  const [, name] = /^apps\/([^/]+)\/dist\/main\.js$/.exec(file) ?? [];
  return programs && name ? path.join(programs, `${name}.cjs`) : path.resolve(PROJECT_ROOT, file);
};

/** The environment of a started program: only what it needs and its settings, without the developer's variables. */
export const programEnvironment = (settings: Record<string, string>): Record<string, string> => ({
  PATH: process.execPath.slice(0, process.execPath.lastIndexOf(path.sep)),
  NODE_ENV: 'test',
  ...settings,
});

/** Runs a program and resolves to its output; `input` is its standard input. Throws if it fails, unless `mayFail` is set. */
export const runProgram = (
  file: string,
  args: string[],
  settings: Record<string, string>,
  mayFail = false,
  input = '',
): Promise<{ code: number | null; stdout: string; stderr: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...PROGRAM_FLAGS, programFile(file), ...args], {
      env: programEnvironment(settings),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A program may end without reading its input.
    child.stdin.on('error', () => undefined).end(input);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 || mayFail) resolve({ code, stdout, stderr });
      else reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`));
    });
  });
