import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { BUNDLES, bundle, fillFolder, versionOfBuild } from './bundle-programs.js';
import { PROJECT_ROOT } from './run-program.js';

export const EARLIER_PROGRAMS = ['api', 'worker'] as const;

/** The programs of an earlier release (commit 1716fbb), made by `pack-release-main.ts`. */
export const EARLIER_RELEASE = path.join(PROJECT_ROOT, 'packages/testkit/fixtures/earlier-release.json.br');

/**
 * The API and the worker of an earlier release, for tests in which two releases run side by side. Its own code and its BullMQ
 * are those of that release; other packages are the installed ones.
 */
export const bundleEarlierRelease = async (): Promise<{ api: string; worker: string }> => {
  const packed = await readFile(EARLIER_RELEASE);
  const hash = createHash('sha256')
    .update(await versionOfBuild())
    .update(packed);
  const folder = path.join(BUNDLES, `earlier-${hash.digest('hex').slice(0, 16)}`);
  if (!existsSync(folder))
    await fillFolder(folder, async (temporary) => {
      const files = JSON.parse(brotliDecompressSync(packed).toString('utf8')) as Record<string, string>;
      const sources = path.join(temporary, 'sources');
      await mkdir(sources);
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(sources, name), text);
      const entryPoints = Object.fromEntries(EARLIER_PROGRAMS.map((name) => [name, path.join(sources, `${name}.js`)]));
      await bundle({ entryPoints, outdir: temporary });
    });
  return { api: path.join(folder, 'api.js'), worker: path.join(folder, 'worker.js') };
};
