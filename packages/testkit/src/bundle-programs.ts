import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { PROGRAM_FLAGS, PROJECT_ROOT, SHARED } from './run-program.js';

export const BUNDLES = path.join(PROJECT_ROOT, '.data', 'test-programs');

const PROGRAMS = ['api', 'worker', 'admin', 'vies-sandbox'];

const SHARED_SOURCES = [
  'apps/api/dist/run-api.js',
  'apps/worker/dist/run-worker.js',
  'apps/admin/dist/answer-command.js',
  'apps/vies-sandbox/dist/start-vies-sandbox.js',
];

/** Packages of many files that consist only of code. Every other package is loaded from where it is installed. */
const BUNDLED =
  /^(@fastify\/busboy$|@prisma\/|asn1js$|bullmq$|canonicalize$|content-disposition$|content-type$|express$|got$|hpagent$|ioredis$|jsvat-next$|nodemailer$|pg$|pg-copy-streams$|pkijs$|prom-client$|typeid-js$|undici$|winston$|zod$)/;

/** Defines `require`, which CommonJS packages expect of an ES module. */
const BANNER = `import { createRequire as $createRequire } from 'node:module';
const require = $createRequire(import.meta.url);`;

/** The argument with which a bundle writes its code cache when it ends. */
const COMPILE = '--write-code-cache';

/** The address of the bundle, which a few ES modules of packages use to find files. */
const BUNDLE_URL = '$bundleUrl';
/** What makes a script of a bundle a function of what Node gives a CommonJS module. */
const SCRIPT_BEGIN = `(function(exports,require,module,__filename,__dirname){const ${BUNDLE_URL}=require('node:url').pathToFileURL(__filename).href;`;
const SCRIPT_END = '})';

/**
 * Starts the bundle of the same name with its code cache: what V8 made of the text when {@link compilePrograms} ran it. Without
 * the cache a process spends a third of its start on compiling. V8 ignores a cache of another version or with other flags.
 */
const START = `const fs = require('node:fs');
const vm = require('node:vm');
const file = __filename.slice(0, -3) + 'js';
const cache = file + '.cache';
const script = new vm.Script(fs.readFileSync(file, 'latin1'), {
  filename: file,
  cachedData: fs.existsSync(cache) ? fs.readFileSync(cache) : undefined,
});
if (process.argv[2] === '${COMPILE}') {
  process.argv.splice(2);
  process.once('exit', () => fs.writeFileSync(cache, script.createCachedData()));
}
script.runInThisContext()(exports, require('node:module').createRequire(file), module, file, __dirname);
`;

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
 * Escapes what esbuild leaves as it is: regular expressions. With one such character V8 keeps the whole text in two bytes a
 * character, for as long as the process runs.
 */
const escapeNonAscii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Runs each bundle until it rejects its settings, which is after it has loaded, and stores what V8 compiled. */
const compilePrograms = async (folder: string): Promise<void> => {
  await Promise.all(
    [...PROGRAMS, SHARED].map(async (name) => {
      const flags = name === SHARED ? process.execArgv : PROGRAM_FLAGS;
      const args = [...flags, path.join(folder, `${name}.cjs`), COMPILE];
      const child = spawn(process.execPath, args, { env: { PORT: 'none' }, stdio: 'ignore' });
      await once(child, 'exit');
      if (!existsSync(path.join(folder, `${name}.js.cache`))) throw new Error(`${name} did not write its code cache`);
    }),
  );
};

/**
 * Bundles each program that worlds start into one file, from the built code, and returns their folder. A process spends most
 * of its start on finding, loading and compiling 1 200 files, and a run of all tests starts hundreds of processes. The
 * unbundled programs are started by the global set-up (admin) and by the worker's shutdown tests.
 */
export const bundlePrograms = async (): Promise<string> => {
  const folder = path.join(BUNDLES, await versionOfBuild());
  if (existsSync(folder)) return folder;
  await removeOld(BUNDLES);
  await fillFolder(folder, async (temporary) => {
    const shared = path.join(temporary, `${SHARED}.mjs`);
    await writeFile(
      shared,
      SHARED_SOURCES.map((file) => `export * from '${path.join(PROJECT_ROOT, file)}';\n`).join(''),
    );
    await bundle({
      entryPoints: {
        ...Object.fromEntries(PROGRAMS.map((name) => [name, path.join(PROJECT_ROOT, 'apps', name, 'dist/main.js')])),
        [SHARED]: shared,
      },
      outdir: temporary,
      // Node takes a code cache for scripts only.
      ...{ format: 'cjs', splitting: false },
      // `import()` is not available in a script from a code cache; `require` takes the same packages.
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': BUNDLE_URL },
      ...{ banner: { js: SCRIPT_BEGIN }, footer: { js: SCRIPT_END } },
    });
    await Promise.all(
      [...PROGRAMS, SHARED].map(async (name) => {
        const file = path.join(temporary, `${name}.js`);
        await writeFile(file, escapeNonAscii(await readFile(file, 'utf8')));
        await writeFile(path.join(temporary, `${name}.cjs`), START);
      }),
    );
    await compilePrograms(temporary);
  });
  return folder;
};

/** Bundles entry points, each into an ES module with its name in `outdir`. */
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
