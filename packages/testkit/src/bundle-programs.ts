import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { PROJECT_ROOT } from './run-program.js';

/** The folder of all bundles. */
export const BUNDLES = path.join(PROJECT_ROOT, '.data', 'test-programs');

/** The programs that worlds start. */
const PROGRAMS = ['api', 'worker', 'admin', 'vies-sandbox'];

/** Packages of many files that consist only of code. Every other package is loaded from where it is installed. */
const BUNDLED =
  /^(@prisma\/|asn1js$|bullmq$|canonicalize$|express$|got$|ioredis$|jsvat-next$|pg$|pkijs$|prom-client$|typeid-js$|winston$|zod$)/;

/** Defines `require`, which CommonJS packages expect. */
const BANNER = `import { createRequire as $createRequire } from 'node:module';
const require = $createRequire(import.meta.url);`;

/** Whether one of our packages has its own installed version, which a bundle in another folder would not resolve to. */
export const hasOwnVersion = (importer: string, name: string): boolean => {
  const [, workspace] = /^(.*\/(?:apps|packages)\/[^/]+)\/dist\//.exec(importer) ?? [];
  const folder = name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
  return workspace !== undefined && existsSync(path.join(workspace, 'node_modules', folder));
};

const bundleSelected: Plugin = {
  name: 'bundle-selected',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path: name, importer, kind }) => {
      if (kind === 'entry-point' || importer.includes('/node_modules/') || name.startsWith('@vat/')) return null;
      return BUNDLED.test(name) || hasOwnVersion(importer, name) ? null : { path: name, external: true };
    });
    // Our files keep their original location, because for example the migrations are found relative to it.
    onLoad({ filter: /\/(apps|packages)\/[^/]+\/dist\/.*\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)));
      return { contents, loader: 'js' };
    });
  },
};

/** A hash that changes whenever the build or a dependency changes. */
export const versionOfBuild = async (): Promise<string> => {
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

/** Removes bundles that are older than a day. Younger ones may still be in use by another run. */
const removeOld = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const old = path.join(folder, name);
    if (Date.now() - (await stat(old)).mtimeMs > DAY_MS) await rm(old, { recursive: true, force: true });
  }
};

/**
 * Bundles each program that worlds start into one file, from the built code, and returns their folder. A process spends half
 * of its start on finding and loading 1 200 files, and a run of all tests starts hundreds of processes. The unbundled programs
 * are started by the global set-up (admin) and by the worker's shutdown tests.
 */
export const bundlePrograms = async (): Promise<string> => {
  const folder = path.join(BUNDLES, await versionOfBuild());
  if (existsSync(folder)) return folder;
  await removeOld(BUNDLES);
  await fillFolder(folder, (temporary) =>
    bundle({
      entryPoints: Object.fromEntries(
        PROGRAMS.map((name) => [name, path.join(PROJECT_ROOT, 'apps', name, 'dist/main.js')]),
      ),
      outdir: temporary,
    }),
  );
  return folder;
};

/** Bundles entry points, each into a file with its name in `outdir`. */
export const bundle = (options: BuildOptions) =>
  build({
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Errors and workers are distinguished by the names of their classes.
    keepNames: true,
    // Less text to read and parse at every start.
    minifyWhitespace: true,
    minifySyntax: true,
    external: ['pg-native'],
    banner: { js: BANNER },
    plugins: [bundleSelected],
    logLevel: 'error',
    ...options,
  });

/** Makes a folder that appears with all its files at once. If another run has finished the same one first, that one is used. */
export const fillFolder = async (folder: string, fill: (temporary: string) => Promise<unknown>): Promise<void> => {
  const temporary = `${folder}.${randomBytes(4).toString('hex')}`;
  await mkdir(temporary, { recursive: true });
  await fill(temporary);
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true }));
};
