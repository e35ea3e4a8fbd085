import { hash } from 'node:crypto';
import type { DossierFile } from './dossier-file.js';
import { gatherBytes } from './gather-bytes.js';

/**
 * The files as they come, then `SHA256SUMS` over all of them and, when `stamp` gives one, the time-stamp over that list.
 */
export async function* sealFiles(
  files: AsyncIterable<DossierFile>,
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>,
): AsyncGenerator<DossierFile, void, undefined> {
  const sums = gatherBytes();
  for await (const file of files) {
    sums.add(`${hash('sha256', file.bytes, 'hex')}  ${file.path}\n`);
    yield file;
  }
  const bytes = sums.take();
  yield { path: 'SHA256SUMS', bytes };
  const token = await stamp(bytes);
  if (token) yield { path: 'SHA256SUMS.tsr', bytes: token };
}
