import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspectProcess } from './server-process.js';

/**
 * Directories for Postgres outside the project. Postgres does not run as root, and the user under which root runs it cannot
 * enter folders such as /root or a new `mktemp -d`. Their permissions are not changed.
 */
type PostgresDataDirectory = {
  /** Copies the binaries, once per version; returns the `native` folder of the copy. */
  binaries: (native: string, version: string) => string;
  /** The folder of the instance that belongs to `dataDir`, owned by `uid`; created when missing. */
  instance: (dataDir: string, uid: number) => string;
};

const BASES = ['/var/lib/vat-validation-service', '/var/tmp/vat-validation-service'];
const SHARED_MODE = 0o711;

const ensureSharedFolder = (folder: string): string => {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, SHARED_MODE);
  return folder;
};

// In /var/tmp another user may have created the folder first; a folder that root does not own is not used.
const isOurs = (base: string): boolean => {
  const found = lstatSync(base, { throwIfNoEntry: false });
  return found?.uid === 0 && found.isDirectory();
};

const prepareBase = (base: string): boolean => {
  try {
    if (!existsSync(base)) ensureSharedFolder(base);
    return isOurs(base);
  } catch {
    return false;
  }
};

const idOf = (dataDir: string): string | null => {
  try {
    return readFileSync(path.join(dataDir, 'instance-id'), 'utf8').trim() || null;
  } catch {
    return null;
  }
};

const isRunning = (cluster: string): boolean => {
  try {
    const pid = Number(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return inspectProcess(pid) !== null;
  } catch {
    return false;
  }
};

const originOf = (folder: string): string => {
  const file = path.join(folder, 'origin');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

const storeOrigin = (folder: string, dataDir: string): void =>
  writeFileSync(path.join(folder, 'origin'), path.resolve(dataDir));

// Deletes only instances of temporary data directories; any other missing DATA_DIR may be on a disk that is not mounted.
const deleteOrphans = (instances: string): void => {
  for (const id of readdirSync(instances)) {
    const folder = path.join(instances, id);
    const origin = originOf(folder);
    const temporary = [os.tmpdir(), '/tmp', '/var/tmp'].some((tmp) => origin.startsWith(`${tmp}/`));
    if (!temporary || idOf(origin) === id || isRunning(path.join(folder, 'postgres'))) continue;
    rmSync(folder, { recursive: true, force: true });
  }
};

/** True when `uid` can enter and write `folder`. */
export const isReachable = (folder: string, uid: number): boolean => {
  const run = spawnSync('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { uid, gid: uid, cwd: '/' });
  return run.status === 0;
};

/**
 * Throws when root's start stored the files of Postgres for `dataDir` in an instance folder that this start cannot use: on another
 * machine, or as another user. It would begin with an empty database, and nobody would know why.
 */
export const assertNoOtherInstance = (dataDir: string): void => {
  const id = idOf(dataDir);
  // The access data are written before the cluster is made.
  if (!id || existsSync(path.join(dataDir, 'postgres')) || !existsSync(path.join(dataDir, 'postgres.json'))) return;
  const folders = BASES.map((base) => path.join(base, 'instances', id));
  // A start that was killed while the cluster was made left an empty folder.
  if (process.getuid?.() === 0 && folders.some((folder) => existsSync(folder))) return;
  throw new Error(
    `the database of ${path.resolve(dataDir)} is not in it: npm start, run by root, stored it in ${folders.join(' or ')}. ` +
      'Start as root on the machine where that folder is; to move the data, use admin backup and admin restore with an empty DATA_DIR',
  );
};

/**
 * The instance folder an earlier start chose for `dataDir`, or null. It follows a data directory that was moved. Throws for a
 * copy: it would work on the data of the original.
 */
export const findRunningInstance = (dataDir: string): string | null => {
  const id = idOf(dataDir);
  if (!id) return null;
  const folders = BASES.filter(isOurs).map((base) => path.join(base, 'instances', id));
  const folder = folders.find((candidate) => existsSync(path.join(candidate, 'postgres')));
  if (folder === undefined) {
    assertNoOtherInstance(dataDir);
    return null;
  }
  const origin = originOf(folder);
  if (idOf(origin) !== id) storeOrigin(folder, dataDir);
  else if (realpathSync(origin) !== realpathSync(dataDir))
    throw new Error(
      `${path.resolve(dataDir)} is a copy of ${origin}, and Postgres stores its files elsewhere (${folder}): ` +
        'start with an empty DATA_DIR, and copy the data with admin backup and admin restore',
    );
  return folder;
};

/** Chooses the base directory on this machine. Throws when neither /var/lib nor /var/tmp can be used. */
export const openPostgresDataDirectory = (): PostgresDataDirectory => {
  const base = BASES.find(prepareBase);
  if (!base) throw new Error(`neither ${BASES.join(' nor ')} can store the files of Postgres: set DATABASE_URL`);
  return {
    binaries: (native, version) => {
      const copy = path.join(base, `postgres-${version}`);
      if (existsSync(copy)) return copy;
      const partial = `${copy}.${randomUUID()}`;
      cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
      spawnSync('chmod', ['-R', 'a+rX', partial]);
      // Another start may have made the same copy in the meantime; then this one is deleted.
      try {
        renameSync(partial, copy);
      } catch {
        rmSync(partial, { recursive: true, force: true });
      }
      return copy;
    },
    instance: (dataDir, uid) => {
      const instances = ensureSharedFolder(path.join(base, 'instances'));
      deleteOrphans(instances);
      const id = idOf(dataDir) ?? randomUUID();
      writeFileSync(path.join(dataDir, 'instance-id'), `${id}\n`);
      const folder = ensureSharedFolder(path.join(instances, id));
      storeOrigin(folder, dataDir);
      chownSync(folder, uid, uid);
      return folder;
    },
  };
};
