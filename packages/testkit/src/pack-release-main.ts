/**
 * `node packages/testkit/dist/pack-release-main.js FOLDER` packs the API and the worker of a release into the fixture that tests start
 * beside the present release. FOLDER is a checkout of that release in which `npm ci` and `npm run build` were run. The fixture
 * holds our own code, BullMQ, which defines what is stored in Redis, and packages that one workspace alone has in another version.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { bundle, hasOwnVersion } from './bundle-programs.js';
import { EARLIER_FILES, EARLIER_RELEASE } from './earlier-release.js';

/** Tests run it two folders below `.data`: what is found relative to a file is found in the present repository. */
const BANNER = `const $own = import.meta.url;
const $root = new URL('../../../', $own);`;

/** Where a program names the file of one of its threads. It is beside the program in the fixture. */
const THREAD = new RegExp(
  `new URL\\('[^']*?(${Object.keys(EARLIER_FILES).join('|')})\\.js', import\\.meta\\.url\\)`,
  'g',
);

const ownCode = (root: string): Plugin => ({
  name: 'own-code',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[^./]/ }, ({ path: name, importer, kind }) => {
      const isOwn = kind === 'entry-point' || /^(@vat\/|bullmq$)/.test(name) || hasOwnVersion(importer, name);
      const isOfWorkspace = /\/(apps|packages)\/[^/]+\/node_modules\//.test(importer);
      return isOwn || isOfWorkspace ? null : { path: name, external: true };
    });
    onLoad({ filter: /\/(apps|packages)\/[^/]+\/dist\/.*\.js$/ }, ({ path: file }) => {
      const url = `new URL(${JSON.stringify(path.relative(root, file))}, $root).href`;
      const text = readFileSync(file, 'utf8').replace(THREAD, "new URL('./$1.js', $own)");
      return { contents: text.replaceAll('import.meta.url', url), loader: 'js' };
    });
  },
});

const root = path.resolve(process.argv[2] ?? '.');
const { outputFiles = [] } = await bundle({
  entryPoints: Object.fromEntries(Object.entries(EARLIER_FILES).map(([name, file]) => [name, path.join(root, file)])),
  outdir: 'packed',
  write: false,
  banner: { js: BANNER },
  plugins: [ownCode(root)],
});
const files = Object.fromEntries(outputFiles.map(({ path: file, text }) => [path.basename(file), text]));
const packed = brotliCompressSync(JSON.stringify(files), {
  params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
});
writeFileSync(EARLIER_RELEASE, packed);
process.stdout.write(`${Object.keys(files).join(', ')}: ${packed.length} bytes\n`);
