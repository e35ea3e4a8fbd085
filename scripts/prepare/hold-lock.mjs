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
import { ROOT } from './root.mjs';

const FOLDER = path.join(ROOT, '.artifacts');
const LOCK = path.join(FOLDER, 'prepare.lock');
const BEAT_MS = 1_000;
// A holder shows that it lives by touching its file; a pid alone may belong to somebody else after a crash.
const STALE_MS = 15_000;

/** @param {string} code */
const failedWith = (code) => (/** @type {unknown} */ error) =>
  /** @type {NodeJS.ErrnoException} */ (error).code === code;

/** @param {number} pid */
const lives = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return failedWith('EPERM')(error);
  }
};

const isStale = () => {
  try {
    return Date.now() - statSync(LOCK).mtimeMs > STALE_MS || !lives(Number(readFileSync(LOCK, 'utf8')));
  } catch {
    return false;
  }
};

// link() makes the file with its content in one step, and fails when there is one.
const take = () => {
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
    // Taken over while this process was suspended: whoever has it now touches it.
  }
};

// A clone that somebody else built and this user may only read needs no lock: there is nothing left to install or build.
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
 * Runs `work` while no other process of this clone does: two commands started side by side would otherwise install or build
 * into the same folders at once. A lock whose holder died is taken over. `onWait` is called once when it has to wait.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @param {() => void} onWait
 * @returns {Promise<T>}
 */
export const holdLock = async (work, onWait) => {
  if (!isWritable()) return work();
  for (let waited = false; !take(); waited = true) {
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
