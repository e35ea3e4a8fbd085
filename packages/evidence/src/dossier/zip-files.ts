import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { DossierFile } from './dossier-file.js';
import { gatherBytes } from './gather-bytes.js';
import { directoryHeader, endRecords, localHeader } from './zip-records.js';

const CHUNK_BYTES = 65_536;

/**
 * A zip of the files in their order, stored without compression (evidence compresses badly, and this is the fastest by
 * far), in chunks of at least 64 KiB but for the last. Every file has the date `modified`, in UTC. Files are asked for as
 * the reader takes chunks; a reader that stops early ends `files` too.
 *
 * Ours and no library: the leanest one (client-zip) took 180 MB for the 70 000 files of a large dossier.
 */
export async function* zipFiles(
  files: AsyncIterable<DossierFile>,
  modified: Date,
): AsyncGenerator<Uint8Array, void, undefined> {
  const directory = gatherBytes();
  let [entries, offset] = [0, 0];
  let chunks: Uint8Array[] = [];
  let size = 0;
  const put = (piece: Uint8Array) => {
    chunks.push(piece);
    size += piece.length;
    offset += piece.length;
  };
  for await (const { path, bytes } of files) {
    const name = Buffer.from(path, 'utf8');
    const mode = path.endsWith('.sh') || path.endsWith('.py') ? 0o755 : 0o644;
    const entry = { name, crc: crc32(bytes), size: bytes.length, offset, mode, modified };
    directory.add(directoryHeader(entry));
    entries += 1;
    put(localHeader(entry));
    put(bytes);
    if (size < CHUNK_BYTES) continue;
    yield Buffer.concat(chunks, size);
    [chunks, size] = [[], 0];
    // Where everything is at hand already (a page of rows, a quick reader) nothing else would get a turn.
    await setImmediate();
  }
  const at = offset;
  const listing = directory.take();
  put(listing);
  put(endRecords({ entries, size: listing.length, offset: at }));
  yield Buffer.concat(chunks, size);
}
