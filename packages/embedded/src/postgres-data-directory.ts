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
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspectProcess } from './server-process.js';

/**
 * A place for Postgres outside the project. Root cannot run Postgres as itself, and the uid it runs it under cannot
 * enter folders such as /root or a fresh `mktemp -d`; opening those up is not ours to do.
 */
type PostgresDataDirectory = {
  /** Copies the binaries here, once a version; returns the copy's `native` folder. */
  binaries: (native: string, version: string) => string;
  /** The folder, owned by `uid`, of the instance that `dataDir` names; made when missing. */
  instance: (dataDir: string, uid: number) => string;
};

const BASES = ['/var/lib/vat-validation-service', '/var/tmp/vat-validation-service'];
const OPEN = 0o711;

const openFolder = (folder: string): string => {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, OPEN);
  return folder;
};

// Below /var/tmp anybody could have made the folder first: one that is not root's own is not used.
const isOurs = (base: string): boolean => {
  const found = lstatSync(base, { throwIfNoEntry: false });
  return found?.uid === 0 && found.isDirectory();
};

const claim = (base: string): boolean => {
  try {
    if (!existsSync(base)) openFolder(base);
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

const isServed = (cluster: string): boolean => {
  try {
    const pid = Number(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return inspectProcess(pid) !== null;
  } catch {
    return false;
  }
};

// Only instances of temporary folders are swept: any other missing DATA_DIR may be a disk that is not mounted today.
const sweep = (instances: string): void => {
  for (const id of readdirSync(instances)) {
    const folder = path.join(instances, id);
    const origin = existsSync(path.join(folder, 'origin')) ? readFileSync(path.join(folder, 'origin'), 'utf8') : '';
    const temporary = [os.tmpdir(), '/tmp', '/var/tmp'].some((tmp) => origin.startsWith(`${tmp}/`));
    if (!temporary || idOf(origin) === id || isServed(path.join(folder, 'postgres'))) continue;
    rmSync(folder, { recursive: true, force: true });
  }
};

/** True when `uid` can enter and write `folder`. */
export const isReachable = (folder: string, uid: number): boolean => {
  const run = spawnSync('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { uid, gid: uid, cwd: '/' });
  return run.status === 0;
};

/** The instance folder an earlier start chose for `dataDir`, or null. */
export const findRunningInstance = (dataDir: string): string | null => {
  const id = idOf(dataDir);
  if (!id) return null;
  const folders = BASES.filter(isOurs).map((base) => path.join(base, 'instances', id));
  return folders.find((folder) => existsSync(path.join(folder, 'postgres'))) ?? null;
};

/** Picks the shelter on this machine. Throws when neither /var/lib nor /var/tmp can be used. */
export const openPostgresDataDirectory = (): PostgresDataDirectory => {
  const base = BASES.find(claim);
  if (!base) throw new Error(`neither ${BASES.join(' nor ')} can hold Postgres' files: set DATABASE_URL`);
  return {
    binaries: (native, version) => {
      const copy = path.join(base, `postgres-${version}`);
      if (existsSync(copy)) return copy;
      const making = `${copy}.${randomUUID()}`;
      cpSync(native, making, { recursive: true, verbatimSymlinks: true });
      spawnSync('chmod', ['-R', 'a+rX', making]);
      // Two starts may copy at once: the loser throws its copy away.
      try {
        renameSync(making, copy);
      } catch {
        rmSync(making, { recursive: true, force: true });
      }
      return copy;
    },
    instance: (dataDir, uid) => {
      const instances = openFolder(path.join(base, 'instances'));
      sweep(instances);
      const id = idOf(dataDir) ?? randomUUID();
      writeFileSync(path.join(dataDir, 'instance-id'), `${id}\n`);
      const folder = openFolder(path.join(instances, id));
      writeFileSync(path.join(folder, 'origin'), path.resolve(dataDir));
      chownSync(folder, uid, uid);
      return folder;
    },
  };
};
