import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { PROJECT_ROOT } from './run-program.js';

/** The programs that worlds start over and over. */
const PROGRAMS = ['api', 'worker', 'admin', 'vies-sandbox'];

/** Packages of many files that are code and nothing else. Every other one is loaded from where it is installed. */
const TAKEN_IN =
  /^(@prisma\/|asn1js$|bullmq$|canonicalize$|express$|got$|ioredis$|jsvat-next$|pg$|pkijs$|prom-client$|typeid-js$|winston$|zod$)/;

/** What packages in CommonJS expect to find. */
const BANNER = `import { createRequire as $createRequire } from 'node:module';
const require = $createRequire(import.meta.url);`;

/** Whether a version of its own lies beside one of our packages, where a file that lies elsewhere would not find it. */
const liesBeside = (importer: string, name: string): boolean => {
  const [, room] = /^(.*\/(?:apps|packages)\/[^/]+)\/dist\//.exec(importer) ?? [];
  const folder = name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
  return room !== undefined && existsSync(path.join(room, 'node_modules', folder));
};

const choose: Plugin = {
  name: 'choose',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path: name, importer, kind }) => {
      if (kind === 'entry-point' || importer.includes('/node_modules/') || name.startsWith('@vat/')) return null;
      return TAKEN_IN.test(name) || liesBeside(importer, name) ? null : { path: name, external: true };
    });
    // Ours go on knowing where they lie: the migrations, for one, are found from there.
    onLoad({ filter: /\/(apps|packages)\/[^/]+\/dist\/.*\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)));
      return { contents, loader: 'js' };
    });
  },
};

/** Changes whenever the build or a dependency does. */
const versionOfBuild = async (): Promise<string> => {
  const hash = createHash('sha256').update(await readFile(path.join(PROJECT_ROOT, 'package-lock.json')));
  hash.update(await readFile(new URL(import.meta.url)));
  for (const group of ['apps', 'packages']) {
    for (const name of (await readdir(path.join(PROJECT_ROOT, group))).sort()) {
      const built = path.join(PROJECT_ROOT, group, name, 'dist/.tsbuildinfo');
      if (existsSync(built)) hash.update(name).update(await readFile(built));
    }
  }
  return hash.digest('hex').slice(0, 16);
};

const DAY_MS = 86_400_000;

/** Removes what earlier builds left, but nothing that a run may still be using. */
const removeOld = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const old = path.join(folder, name);
    if (Date.now() - (await stat(old)).mtimeMs > DAY_MS) await rm(old, { recursive: true, force: true });
  }
};

/**
 * Makes one file of each program that worlds start, from what the build made, and returns their folder. A process spends
 * half of its start on finding and loading twelve hundred files, and a run of all tests starts hundreds of processes.
 * As they ship they are started once each: by the set-up of a run (admin) and by the worker's tests of shutting down.
 */
export const bundlePrograms = async (): Promise<string> => {
  const all = path.join(PROJECT_ROOT, '.data', 'test-programs');
  const folder = path.join(all, await versionOfBuild());
  if (existsSync(folder)) return folder;
  await removeOld(all);
  const making = `${folder}.${randomBytes(4).toString('hex')}`;
  await mkdir(making, { recursive: true });
  await build({
    entryPoints: Object.fromEntries(
      PROGRAMS.map((name) => [name, path.join(PROJECT_ROOT, 'apps', name, 'dist/main.js')]),
    ),
    outdir: making,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Errors and workers are told apart by the names of their classes.
    keepNames: true,
    // For what is read and parsed at every start.
    minifyWhitespace: true,
    minifySyntax: true,
    external: ['pg-native'],
    banner: { js: BANNER },
    plugins: [choose],
    logLevel: 'error',
  });
  // Another run of this folder may have been quicker; what it made is the same.
  await rename(making, folder).catch(() => rm(making, { recursive: true }));
  return folder;
};
