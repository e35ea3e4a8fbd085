// @ts-check
import {
  accessSync,
  constants,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ROOT } from './run-program.mjs';

const FOLDER = path.join(ROOT, '.artifacts');
const LOCK = path.join(FOLDER, 'prepare.lock');
const BEAT_MS = 1_000;
// The holder touches the file regularly. The pid alone is not enough, since another process may have it after a crash.
const STALE_MS = 15_000;

/** @param {string} code */
const failedWith = (code) => (/** @type {unknown} */ error) =>
  /** @type {NodeJS.ErrnoException} */ (error).code === code;

/** @param {number} pid */
const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return failedWith('EPERM')(error);
  }
};

const isStale = () => {
  try {
    return Date.now() - statSync(LOCK).mtimeMs > STALE_MS || !isRunning(Number(readFileSync(LOCK, 'utf8')));
  } catch {
    return false;
  }
};

// link() creates the file with its content atomically, and fails if it exists.
const acquire = () => {
  const fresh = `${LOCK}.${process.pid}`;
  writeFileSync(fresh, String(process.pid));
  try {
    linkSync(fresh, LOCK);
    return true;
  } catch (error) {
    if (failedWith('EEXIST')(error)) return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
};

const touch = () => {
  try {
    utimesSync(LOCK, new Date(), new Date());
  } catch {
    // Another process took the lock while this one was suspended.
  }
};

// A read-only clone needs no lock, because nothing can be installed or built in it.
const isWritable = () => {
  try {
    mkdirSync(FOLDER, { recursive: true });
    accessSync(FOLDER, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Runs `work` under a lock of this clone, so that two commands never install or build into the same folders at the same time.
 * A lock whose holder has died is removed. `onWait` is called once if the lock is not free.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @param {() => void} onWait
 * @returns {Promise<T>}
 */
export const holdLock = async (work, onWait) => {
  if (!isWritable()) return work();
  for (let waited = false; !acquire(); waited = true) {
    if (isStale()) rmSync(LOCK, { force: true });
    else {
      if (!waited) onWait();
      await wait(100);
    }
  }
  const beat = setInterval(() => touch(), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(LOCK, { force: true });
  }
};
