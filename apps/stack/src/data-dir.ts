import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createFolder, inspectProcess, ofOtherUser, replaceFile, stopProcess, waitForExit } from '@vat/embedded';
import { StartupError } from './read-settings.js';

/** The identity of a process: its start time distinguishes it from a later process with the same pid. */
type Identity = { pid: number; started: string };
type Lock = Identity & { children: Identity[]; stopping?: boolean };

/** The right to run a stack on a data directory. */
type DataDirClaim = {
  /** Stores the pids of the children, so that the next start can wait for those that outlive a killed supervisor. */
  recordChildren: (pids: number[]) => void;
  /** Records that this stack is stopping, so that the next start waits for it instead of refusing. */
  announceStop: () => void;
  release: () => void;
};

const DRAIN_MS = 10_000;
const STOP_MS = 16_000;
// A stack whose npm was just killed notices this after a moment and stops, so a start waits before it refuses.
const HOLDER_CHECK_MS = 1_500;
// More than all that a start writes before the servers.
const PROBE_BYTES = 16_384;

const identify = (pid: number): Identity[] => {
  const found = inspectProcess(pid);
  return found ? [{ pid, started: found.started }] : [];
};

const isRunning = ({ pid, started }: Identity): boolean => inspectProcess(pid)?.started === started;

/** Null when there is no lock, or one that a crash of the machine left without its content. Throws StartupError. */
const readLock = (file: string): Lock | null => {
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as Partial<Lock>;
    const { pid = 0, started = '', children = [], stopping = false } = lock;
    return { pid, started, children, stopping };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof SyntaxError || code === 'ENOENT') return null;
    // Of another user, whose stack may be running.
    throw new StartupError(ofOtherUser(file, code).message);
  }
};

// link() creates the file with its content atomically, and fails if it exists.
const createLock = (file: string, lock: Lock): boolean => {
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, JSON.stringify(lock), { mode: 0o600 });
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
};

/**
 * Removes the lock of a process that has ended. Another start may have taken over the claim since the lock was read: a lock
 * whose process is running is put back. Renaming decides which of several starts removes the old lock.
 */
export const removeStaleLock = (file: string): void => {
  const aside = `${file}.${process.pid}.old`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readLock(aside);
  try {
    if (moved && isRunning(moved)) linkSync(aside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
};

const refusal = ({ pid }: Lock, dataDir: string): StartupError =>
  new StartupError(
    `another npm start (pid ${pid}) uses DATA_DIR ${dataDir}: end it, or choose another DATA_DIR and PORT`,
  );

/**
 * Claims `dataDir` for this process. If the process that holds the claim has ended, the claim is taken over: its
 * remaining children are stopped, by force after 10 s, so that their ports are free. If the holder is stopping, the
 * call waits for it. Throws StartupError when the holder keeps running.
 */
export const claimDataDir = async (dataDir: string, log: (line: string) => void): Promise<DataDirClaim> => {
  const file = path.join(dataDir, 'stack.lock');
  const self: Identity = identify(process.pid)[0] ?? { pid: process.pid, started: '' };
  let orphans: Identity[] = [];
  let isAnnounced = false;
  const startedAt = Date.now();
  while (!createLock(file, { ...self, children: [] })) {
    const holder = readLock(file);
    if (holder && isRunning(holder)) {
      if (Date.now() - startedAt > (holder.stopping ? STOP_MS : HOLDER_CHECK_MS)) throw refusal(holder, dataDir);
      if (holder.stopping && !isAnnounced) log(`waiting for the stack that is stopping on ${dataDir}`);
      isAnnounced ||= holder.stopping === true;
      await wait(50);
      continue;
    }
    orphans = holder?.children.filter(isRunning) ?? orphans;
    removeStaleLock(file);
  }
  if (orphans.length > 0) log(`waiting for ${orphans.length} process(es) of an earlier run`);
  await Promise.all(
    orphans.map(({ pid }) =>
      stopProcess({ pid, exited: waitForExit(pid), steps: [{ signal: 'SIGTERM', timeoutMs: DRAIN_MS }] }),
    ),
  );
  let lock: Lock = { ...self, children: [] };
  let released = false;
  const update = (change: Partial<Lock>): void => {
    // A late update must not recreate a file that another start may hold by now.
    if (released) return;
    lock = { ...lock, ...change };
    replaceFile(file, JSON.stringify(lock));
  };
  return {
    recordChildren: (pids) => update({ children: pids.flatMap(identify) }),
    announceStop: () => {
      try {
        update({ stopping: true });
      } catch {
        // A full disk must not prevent the stop. The next start refuses then, and does not wait.
      }
    },
    release: () => {
      if (!released) rmSync(file, { force: true });
      released = true;
    },
  };
};

/** Creates the data directory and checks that it is writable. Returns its real path. Throws StartupError. */
export const openDataDir = (folder: string): string => {
  try {
    createFolder(path.resolve(folder));
    const dataDir = realpathSync(folder);
    const probe = path.join(dataDir, `.probe-${process.pid}`);
    // An empty file can be written to a full disk.
    try {
      writeFileSync(probe, Buffer.alloc(PROBE_BYTES));
    } finally {
      rmSync(probe, { force: true });
    }
    return dataDir;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `DATA_DIR ${path.resolve(folder)} cannot be written (${code ?? message}): choose another one`,
    );
  }
};

/** The given key, or the one in `dataDir/secret_key`: 32 random bytes in base64, created at the first start. */
export const loadOrCreateSecretKey = (dataDir: string, given: string | undefined): string => {
  if (given !== undefined) return given;
  const file = path.join(dataDir, 'secret_key');
  if (!existsSync(file)) replaceFile(file, `${randomBytes(32).toString('base64')}\n`);
  return readFileSync(file, 'utf8').trim();
};

/** The content of `DATA_DIR/run.json`. The pid of a server is present only when it is embedded. */
export type RunState = {
  /** Its real path: the file in a copy of the directory describes the stack of the original. */
  data_dir: string;
  base_url: string;
  database_url: string;
  redis_url: string;
  /** REDIS_PREFIX: admin commands add jobs with it. */
  redis_prefix: string;
  pids: { postgres?: number; redis?: number; api: number; workers: number[] };
};

/** The file that exists while a stack is running; it lists the stack's processes. */
export const runFile = (dataDir: string) => {
  const file = path.join(dataDir, 'run.json');
  return {
    write: (state: Omit<RunState, 'data_dir'>): void =>
      replaceFile(file, `${JSON.stringify({ data_dir: dataDir, ...state }, null, 2)}\n`),
    remove: (): void => rmSync(file, { force: true }),
  };
};
