// @ts-check
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

/** Every package and app with an entry file, which TypeScript builds. The dashboard has its own build. */
const projects = () =>
  ['packages', 'apps']
    .flatMap((group) => readdirSync(path.join(ROOT, group)).map((name) => path.join(group, name)))
    .filter((project) => project !== path.join('apps', 'dashboard'))
    .filter((project) => existsSync(path.join(ROOT, project, 'tsconfig.json')))
    .filter((project) => ['main.ts', 'index.ts'].some((entry) => existsSync(path.join(ROOT, project, 'src', entry))));

/** Runs `tsc -b` for all projects; fast if nothing changed. Throws an Error with the compiler's output. */
export const build = () =>
  runProgram('the build', process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...projects()]);
