import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inspectProcess, stopProcess, waitForExit } from '@vat/embedded';
import { StartupError } from './read-settings.js';

/** Writes `content` to `file` (mode 0600) so that a reader finds the old or the new one, never half of one. */
export const replaceFile = (file: string, content: string): void => {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, content, { mode: 0o600 });
  renameSync(fresh, file);
};

/** A process, told apart from a later one that got the same pid by when it started. */
type Identity = { pid: number; started: string };
type Lock = Identity & { children: Identity[]; stopping?: boolean };

/** The right to run a stack on a data directory. */
type DataDirClaim = {
  /** Keeps the pids of the children, so that the next start can wait for those that outlive a killed supervisor. */
  recordChildren: (pids: number[]) => void;
  /** Says that this stack is on its way out, so that the next start waits for it instead of refusing. */
  announceStop: () => void;
  release: () => void;
};

const DRAIN_MS = 10_000;
const STOP_MS = 16_000;
// A stack whose npm was just killed notices within a moment, and then stops: not worth refusing for.
const PATIENCE_MS = 1_500;

const identify = (pid: number): Identity[] => {
  const found = inspectProcess(pid);
  return found ? [{ pid, started: found.started }] : [];
};

const lives = ({ pid, started }: Identity): boolean => inspectProcess(pid)?.started === started;

const read = (file: string): Lock | null => {
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as Partial<Lock>;
    const { pid = 0, started = '', children = [], stopping = false } = lock;
    return { pid, started, children, stopping };
  } catch {
    return null;
  }
};

// link() makes the file with its content in one step, and fails when there is one.
const create = (file: string, lock: Lock): boolean => {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(lock), { mode: 0o600 });
  try {
    linkSync(fresh, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
};

const refusal = ({ pid }: Lock, dataDir: string): StartupError =>
  new StartupError(
    `another npm start (pid ${pid}) runs on DATA_DIR ${dataDir}: end it, or choose another DATA_DIR and PORT`,
  );

/**
 * Claims `dataDir` for this process. A claim whose holder is dead is taken over: children of it that still drain are asked to
 * end, and ended by force after 10 s, so that their port is free. A holder that is
 * stopping is waited for. Throws StartupError when the holder lives on.
 */
export const claimDataDir = async (dataDir: string, say: (line: string) => void): Promise<DataDirClaim> => {
  const file = path.join(dataDir, 'stack.lock');
  const self: Identity = identify(process.pid)[0] ?? { pid: process.pid, started: '' };
  let orphans: Identity[] = [];
  let told = false;
  const began = Date.now();
  while (!create(file, { ...self, children: [] })) {
    const holder = read(file);
    if (holder && lives(holder)) {
      if (Date.now() - began > (holder.stopping ? STOP_MS : PATIENCE_MS)) throw refusal(holder, dataDir);
      if (holder.stopping && !told) say(`waiting for the stack that is stopping on ${dataDir}`);
      told ||= holder.stopping === true;
      await wait(50);
      continue;
    }
    orphans = holder?.children.filter(lives) ?? orphans;
    rmSync(file, { force: true });
  }
  if (orphans.length > 0) say(`waiting for ${orphans.length} process(es) that an earlier run left behind`);
  await Promise.all(
    orphans.map(({ pid }) =>
      stopProcess({ pid, exited: waitForExit(pid), steps: [{ signal: 'SIGTERM', timeoutMs: DRAIN_MS }] }),
    ),
  );
  let lock: Lock = { ...self, children: [] };
  let released = false;
  const update = (change: Partial<Lock>): void => {
    // Late news must not bring back a file that another start may hold by now.
    if (released) return;
    lock = { ...lock, ...change };
    replaceFile(file, JSON.stringify(lock));
  };
  return {
    recordChildren: (pids) => update({ children: pids.flatMap(identify) }),
    announceStop: () => update({ stopping: true }),
    release: () => {
      if (!released) rmSync(file, { force: true });
      released = true;
    },
  };
};

/** Makes the data directory and proves that it can be written. Returns its real path. Throws StartupError. */
export const openDataDir = (folder: string): string => {
  try {
    mkdirSync(folder, { recursive: true });
    const dataDir = realpathSync(folder);
    const probe = path.join(dataDir, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
    return dataDir;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `DATA_DIR ${path.resolve(folder)} cannot be written (${code ?? message}): choose another one`,
    );
  }
};

/** The given key, or the one kept in `dataDir/secret_key`: 32 random bytes in base64, made at the first start. */
export const loadOrCreateSecretKey = (dataDir: string, given: string | undefined): string => {
  if (given !== undefined) return given;
  const file = path.join(dataDir, 'secret_key');
  if (!existsSync(file)) replaceFile(file, `${randomBytes(32).toString('base64')}\n`);
  return readFileSync(file, 'utf8').trim();
};

/** What `DATA_DIR/run.json` holds (contract, part 2, section 2). A server's pid is there only when it is embedded. */
export type RunState = {
  base_url: string;
  database_url: string;
  redis_url: string;
  pids: { postgres?: number; redis?: number; api: number; workers: number[] };
};

/** The file that says a stack is up, and which processes it consists of. */
export const runFile = (dataDir: string) => {
  const file = path.join(dataDir, 'run.json');
  return {
    write: (state: RunState): void => replaceFile(file, `${JSON.stringify(state, null, 2)}\n`),
    remove: (): void => rmSync(file, { force: true }),
  };
};
