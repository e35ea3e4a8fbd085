import { makeZip } from 'client-zip';
import type { DossierFile } from './dossier-file.js';

const CHUNK_BYTES = 65_536;

/** A zip's dates have no zone and the library writes local ones: this is the date whose local fields are `at`'s in UTC. */
const utcAsLocal = (at: Date): Date =>
  new Date(
    at.getUTCFullYear(),
    at.getUTCMonth(),
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    at.getUTCSeconds(),
  );

/**
 * A zip of the files in their order, stored without compression (the fastest by far, and evidence compresses badly), in
 * chunks of about 64 KiB. Everything has the date `at`. Files are asked for as the reader takes chunks; a reader that
 * stops early ends `files` too.
 */
export async function* zipFiles(
  files: AsyncIterable<DossierFile>,
  at: Date,
): AsyncGenerator<Uint8Array, void, undefined> {
  const lastModified = utcAsLocal(at);
  const open = files[Symbol.asyncIterator]();
  const entries = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const { done, value } = await open.next();
        if (done) return { done: true as const, value: undefined };
        return { done: false as const, value: { name: value.path, input: value.bytes, lastModified } };
      },
    }),
  };
  const reader = makeZip(entries).getReader();
  let chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (value) {
        chunks.push(value);
        size += value.length;
      }
      // The library hands out headers, names and bodies one by one; so many small writes would cost more than the zip.
      if (size >= CHUNK_BYTES || (done && size > 0)) {
        yield Buffer.concat(chunks, size);
        chunks = [];
        size = 0;
      }
      if (done) return;
    }
  } finally {
    await open.return?.();
  }
}
