import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** A partition: its schema and name, its bound (`FOR VALUES FROM … TO …`) and its storage options, as Postgres prints them. */
export type BackupPartition = { schema: string; name: string; bound: string; options: string[] };

/** A table with its rows in COPY's binary format, gzipped. `sha256` and `bytes` are of the file. */
export type BackupTable = {
  name: string;
  columns: string[];
  partitions: BackupPartition[];
  file: string;
  rows: number;
  bytes: number;
  sha256: string;
};

/** What a backup contains. `migrations`: those that its database had, in order. */
export type Manifest = {
  format: 1;
  created_at: string;
  migrations: { name: string; checksum: string }[];
  tables: BackupTable[];
  sequences: { name: string; last_value: string }[];
};

/** What a backup or a restore costs: bytes of its files, tables, and the time it took. */
export type BackupFigures = { bytes: number; tables: number; seconds: number };

/** A backup that cannot be written or restored. The message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** The file that is written last: a folder without it is not a backup. */
export const MANIFEST_FILE = 'manifest.json';

export const figuresOf = ({ tables }: Pick<Manifest, 'tables'>, startedAt: number): BackupFigures => ({
  bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
  tables: tables.length,
  seconds: Math.round((performance.now() - startedAt) / 10) / 100,
});

/** Reads the manifest of a folder. Throws {@link BackupError} if the folder is not a backup of a known format. */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const file = path.join(directory, MANIFEST_FILE);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(
      `${file} cannot be read (${error.code}): name the directory that \`admin backup\` wrote. A backup that was interrupted has no manifest.`,
    );
  });
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(text) as Partial<Manifest>;
  } catch {
    throw new BackupError(`${file} is damaged: use another copy of the backup.`);
  }
  if (manifest.format !== 1)
    throw new BackupError(`${file} has an unknown format: restore it with the release that wrote it, or a later one.`);
  return manifest as Manifest;
};
