import path from 'node:path';
import { PROJECT_ROOT } from './project-root.js';

/** Where the programs lie that worlds start, made by `bundlePrograms`; unset outside a test run. */
export const PROGRAMS_VARIABLE = 'VAT_TEST_PROGRAMS';

/**
 * For Node, before the file of a program that lives for seconds. The database client's compiler is WebAssembly; as Node runs
 * it, it is compiled a second time for speed while the first statements come, which took a third of such a life.
 */
export const PROGRAM_FLAGS = ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up'] as const;

/** The file to run for `apps/<name>/dist/main.js`: in a test run the same program in one file, which starts sooner. */
export const programFile = (file: string): string => {
  const programs = process.env[PROGRAMS_VARIABLE];
  const [, name] = /^apps\/([^/]+)\/dist\/main\.js$/.exec(file) ?? [];
  return programs && name ? path.join(programs, `${name}.js`) : path.join(PROJECT_ROOT, file);
};
