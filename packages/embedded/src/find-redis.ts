import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

/** A Redis (or Valkey) server that runs here: the file, and where its libraries lie when they are not the system's. */
export type RedisBinary = { file: string; libraries: string[] };

const NAMES = ['redis-server', 'valkey-server'];
const list = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** The environment that `binary` needs. */
export const redisEnvironment = ({ libraries }: RedisBinary): NodeJS.ProcessEnv => ({
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(':') }),
});

/** True when `binary` runs on this machine. */
export const runsHere = (binary: RedisBinary): boolean =>
  spawnSync(binary.file, ['--version'], { env: redisEnvironment(binary), timeout: 10_000 }).status === 0;

/** The server that packages unpacked into `unpacked` hold, with their libraries, or null. */
export const findUnpackedRedis = (unpacked: string): RedisBinary | null => {
  const libraries = ['usr/lib', 'lib'].flatMap((lib) =>
    list(path.join(unpacked, lib))
      .filter((name) => name.includes('-linux-'))
      .map((triplet) => path.join(unpacked, lib, triplet)),
  );
  const binary = { file: path.join(unpacked, 'usr/bin/redis-server'), libraries };
  return runsHere(binary) ? binary : null;
};

/** The machine's own server: the first that runs in the folders of `searchPath` (a PATH), or null. */
export const findInstalledRedis = (searchPath: string): RedisBinary | null => {
  const folders = [...new Set(searchPath.split(path.delimiter).filter(Boolean))];
  const found = NAMES.flatMap((name) =>
    folders.filter((folder) => list(folder).includes(name)).map((folder) => path.join(folder, name)),
  );
  return found.map((file) => ({ file, libraries: [] })).find(runsHere) ?? null;
};
