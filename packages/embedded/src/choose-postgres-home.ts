import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PostgresPackage } from './postgres-package.js';
import { findShelteredInstance, isReachable, openPostgresShelter } from './postgres-shelter.js';

/** Where Postgres runs from, where its cluster lies, and as whom it runs (`ids` is empty for a user that is not root). */
export type PostgresHome = { native: string; cluster: string; ids: { uid?: number; gid?: number } };

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
  const sheltered = findShelteredInstance(dataDir);
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
  return path.join(openPostgresShelter().instance(dataDir, uid), 'postgres');
};

/** Decides the home for `dataDir`, which must exist. Never changes a folder's permissions that it did not make. */
export const choosePostgresHome = (dataDir: string, { native, version }: PostgresPackage): PostgresHome => {
  if (process.getuid?.() !== 0) return { native, cluster: path.join(dataDir, 'postgres'), ids: {} };
  // A cluster made by a user, then started by root, goes on under that user.
  const uid = ownerOf(path.join(dataDir, 'postgres'));
  return {
    native: canRun(native, uid) ? native : openPostgresShelter().binaries(native, version),
    cluster: chooseCluster(dataDir, uid),
    ids: { uid, gid: uid },
  };
};
