import { createHash } from 'node:crypto';
import type { DossierFile } from './dossier-file.js';

/**
 * The files as they come, then `SHA256SUMS` over all of them and, when `stamp` gives one, the time-stamp over that list.
 * Throws when a path is there twice: unpacking would leave only one of the two.
 */
export async function* sealFiles(
  files: AsyncIterable<DossierFile>,
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>,
): AsyncGenerator<DossierFile, void, undefined> {
  const sums: string[] = [];
  const paths = new Set<string>();
  for await (const file of files) {
    if (paths.has(file.path)) throw new Error(`a dossier with ${file.path} twice`);
    paths.add(file.path);
    sums.push(`${createHash('sha256').update(file.bytes).digest('hex')}  ${file.path}\n`);
    yield file;
  }
  const bytes = Buffer.from(sums.join(''), 'utf8');
  yield { path: 'SHA256SUMS', bytes };
  const token = await stamp(bytes);
  if (token) yield { path: 'SHA256SUMS.tsr', bytes: token };
}
