import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { RunTool } from '@vat/testkit';
import type { DossierFile } from '../dossier/dossier-file.js';
import { zipFiles } from '../dossier/zip-files.js';
import type { OpensslAuthority } from '../timestamp/openssl-authority.fixture.js';
import type { DossierReport } from '../verify-dossier/index.js';

/** An unpacked dossier that tests change. */
export type Tampered = {
  folder: string;
  read: (file: string) => Promise<string>;
  write: (file: string, content: string | Uint8Array) => Promise<void>;
  remove: (file: string) => Promise<void>;
  /** Replaces text in a file; throws if the text is missing, because then nothing would be tested. */
  replace: (file: string, what: string | RegExp, by: string) => Promise<void>;
  /** Recomputes SHA256SUMS as a forger would and, given an authority, has it stamped. */
  reseal: (authority?: OpensslAuthority) => Promise<void>;
  verify: (...args: string[]) => Promise<{ code: number; output: string }>;
  /** The result of `verify.py --json`. */
  report: () => Promise<DossierReport & { exit_code: number }>;
  /** The dossier as a zip file. `more`: files that no folder can contain. */
  zip: (more?: readonly DossierFile[]) => Promise<Blob>;
};

/** Every file below `folder`, with forward slashes, sorted. */
export const listFiles = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
};

/** The files of a folder as a zip file. `more`: files that no folder can contain. */
export const zipFolder = async (folder: string, more: readonly DossierFile[] = []): Promise<Blob> => {
  const files = async function* (): AsyncGenerator<DossierFile> {
    for (const file of await listFiles(folder)) yield { path: file, bytes: await readFile(path.join(folder, file)) };
    yield* more;
  };
  return new Blob([await buffer(zipFiles(files(), new Date()))]);
};

/** A copy of the unpacked dossier in `original`. */
export const copyDossier = async (run: RunTool, original: string): Promise<Tampered> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-tampered-'));
  await cp(original, folder, { recursive: true });
  const at = (file: string) => path.join(folder, file);
  const read = (file: string) => readFile(at(file), 'utf8');
  return {
    folder,
    read,
    write: (file, content) => writeFile(at(file), content),
    remove: (file) => rm(at(file)),
    replace: async (file, what, by) => {
      const before = await read(file);
      const after = before.replace(what, () => by);
      if (after === before) throw new Error(`${file} has no ${what}`);
      await writeFile(at(file), after);
    },
    reseal: async (authority) => {
      const lines: string[] = [];
      for (const file of await listFiles(folder)) {
        if (file === 'SHA256SUMS' || file === 'SHA256SUMS.tsr') continue;
        lines.push(
          `${createHash('sha256')
            .update(await readFile(at(file)))
            .digest('hex')}  ${file}\n`,
        );
      }
      const sums = Buffer.from(lines.join(''));
      await writeFile(at('SHA256SUMS'), sums);
      if (authority) await writeFile(at('SHA256SUMS.tsr'), await authority.stamp(sums));
    },
    verify: (...args) => run('python3', [at('verify.py'), ...args]),
    report: async () => JSON.parse((await run('python3', ['-I', at('verify.py'), '--json'])).output),
    zip: (more) => zipFolder(folder, more),
  };
};
