import path from 'node:path';
import { PROJECT_ROOT } from './project-root.js';

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
