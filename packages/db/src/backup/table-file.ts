import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { BackupError, type BackupTable } from './manifest.js';

const CHUNK_BYTES = 1024 * 1024;

const quoted = pg.escapeIdentifier;

/** Passes bytes on, and counts and hashes them. */
const measure = () => {
  const hash = createHash('sha256');
  const result = { bytes: 0, sha256: () => hash.digest('hex') };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      hash.update(chunk);
      result.bytes += chunk.length;
      callback(null, chunk);
    },
  });
  return { stream, result };
};

/** Writes what was written to a file or a folder to the disk. */
export const syncPath = async (file: string): Promise<void> => {
  const handle: FileHandle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes the rows of a table that the transaction of `client` sees to a new file of `directory`. */
export const writeTable = async (
  client: pg.ClientBase,
  directory: string,
  { name, columns, partitions }: Pick<BackupTable, 'name' | 'columns' | 'partitions'>,
): Promise<BackupTable> => {
  const file = `${name}.copy.gz`;
  // A partitioned table can only be copied as a query.
  const rows = client.query(
    copyTo(`COPY (SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)}) TO STDOUT (FORMAT binary)`),
  );
  const { stream, result } = measure();
  const at = path.join(directory, file);
  // The least compression: with more, the processor would be slower than the disk.
  const gzip = createGzip({ level: 1, chunkSize: CHUNK_BYTES });
  await pipeline(rows, gzip, stream, createWriteStream(at, { flags: 'wx', mode: 0o600 }));
  await syncPath(at);
  return { name, columns, partitions, file, rows: rows.rowCount, bytes: result.bytes, sha256: result.sha256() };
};

/** Throws {@link BackupError} if the file of a table is missing, or is not what was written. */
export const verifyTable = async (directory: string, { file, bytes, sha256 }: BackupTable): Promise<void> => {
  const { stream, result } = measure();
  const at = path.join(directory, file);
  try {
    await pipeline(createReadStream(at, { highWaterMark: CHUNK_BYTES }), stream.resume());
  } catch (error) {
    throw new BackupError(`${at} cannot be read (${(error as NodeJS.ErrnoException).code}): use another copy.`);
  }
  if (result.bytes !== bytes || result.sha256() !== sha256)
    throw new BackupError(`${at} is damaged: its SHA-256 is not that of the manifest. Use another copy of the backup.`);
};

/** Inserts the rows of a file. Throws {@link BackupError} if their number is not that of the manifest. */
export const readTable = async (client: pg.ClientBase, directory: string, table: BackupTable): Promise<void> => {
  const { name, columns, file, rows } = table;
  const into = client.query(
    copyFrom(`COPY ${quoted(name)} (${columns.map(quoted).join(', ')}) FROM STDIN (FORMAT binary)`),
  );
  const compressed = createReadStream(path.join(directory, file), { highWaterMark: CHUNK_BYTES });
  await pipeline(compressed, createGunzip({ chunkSize: CHUNK_BYTES }), into);
  if (into.rowCount !== rows)
    throw new BackupError(`${file} contains ${into.rowCount} rows instead of ${rows}: use another copy of the backup.`);
};
