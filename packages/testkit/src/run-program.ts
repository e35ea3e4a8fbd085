import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, from source and from dist alike. */
export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Where the programs lie that worlds start, made by `bundlePrograms`; unset outside a test run. */
export const PROGRAMS_VARIABLE = 'VAT_TEST_PROGRAMS';

/**
 * For Node, before the file of a program that lives for seconds. The database client's compiler is WebAssembly; as Node runs
 * it, it is compiled a second time for speed while the first statements come, which took a third of such a life. So are
 * functions as soon as they seem busy, and a heap that grows from one MiB is collected dozens of times until all is loaded.
 */
export const PROGRAM_FLAGS = [
  '--no-wasm-dynamic-tiering',
  '--no-wasm-tier-up',
  '--interrupt-budget=2000000',
  '--min-semi-space-size=16',
  '--max-semi-space-size=32',
] as const;

/** The file to run for `apps/<name>/dist/main.js`: in a test run the same program in one file, which starts sooner. */
export const programFile = (file: string): string => {
  const programs = process.env[PROGRAMS_VARIABLE];
  const [, name] = /^apps\/([^/]+)\/dist\/main\.js$/.exec(file) ?? [];
  return programs && name ? path.join(programs, `${name}.js`) : path.join(PROJECT_ROOT, file);
};

/** The environment a started program sees: what it needs to run, and its settings; nothing of the developer's. */
export const programEnvironment = (settings: Record<string, string>): Record<string, string> => ({
  PATH: process.execPath.slice(0, process.execPath.lastIndexOf(path.sep)),
  NODE_ENV: 'test',
  ...settings,
});

/** What a program printed; `input` is its standard input. Throws with its output when it fails, unless `mayFail`. */
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
    // A program may end without reading it.
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
