import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort, isPortFree } from './server-process.js';

/** How long to wait for the server of an earlier run. */
const ADOPT_TIMEOUT_MS = 30_000;
/** A server that does not respond to this many probes in a row is killed. */
const MAX_HANGING_PROBES = 3;
/** The time-out of a connection to an external server. */
export const REACH_TIMEOUT_MS = 5_000;

/** A database server that the project starts and stops itself. */
export type EmbeddedServer = {
  /** Connection string with the password; it does not change when the server is restarted. */
  url: string;
  /** TCP port on 127.0.0.1. */
  port: number;
  pid: number;
  /** True when the server of an earlier run, whose parent was killed, was taken over. */
  reused: boolean;
  /** True when this start created the data directory, so that it holds no earlier data. */
  created: boolean;
  /** Resolves with a short reason once the process has ended, whatever the cause. Never rejects. */
  exited: Promise<string>;
  /**
   * Stops the server in order, and by force after `timeoutMs` (default 5 000 ms) or when `force` is aborted.
   * Resolves when the process has ended.
   */
  stop: (options?: StopServerOptions) => Promise<void>;
};

export type StopServerOptions = { timeoutMs?: number | undefined; force?: AbortSignal | undefined };

/** The address of an embedded server, stored beside its data so that a restart uses the same one. */
export type Access = { port: number; password: string };

const read = (file: string): Access | null => {
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Access>;
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof SyntaxError || code === 'ENOENT') return null;
    throw ofOtherUser(file, code);
  }
};

/**
 * The error for a file that exists and cannot be read. To treat it as missing would store a new password over that of a database
 * which has the old one, and nobody could open it any more.
 */
export const ofOtherUser = (file: string, code = 'unknown error'): Error =>
  new Error(`${file} cannot be read (${code}): start as the user who started last, or choose another DATA_DIR`);

/** Writes the names of a folder's files to the disk, without which a power failure can undo a rename. */
const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/** Replaces `file` atomically (mode 0600): a reader finds the old or the new content, also after a power failure. */
export const replaceFile = (file: string, content: string): void => {
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, content, { mode: 0o600, flush: true });
    renameSync(temporary, file);
    syncFolder(path.dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
};

/**
 * Writes `access` to `file`, see {@link replaceFile}. What is stored already is not written again: if it could not be, a server that
 * was restarted would run, and nobody would use it.
 */
export const rememberAccess = (file: string, access: Access): void => {
  const stored = read(file);
  if (stored?.port === access.port && stored.password === access.password) return;
  replaceFile(file, `${JSON.stringify(access)}\n`);
};

/** The access data stored in `file`; without a file, `port` 0 and a new password. Throws when it cannot be read. */
export const recallAccess = (file: string): Access =>
  read(file) ?? { port: 0, password: randomBytes(24).toString('hex') };

/** The required port; without one the remembered port if it is free, otherwise a new one. */
export const choosePort = async (wanted: number | undefined, remembered: number): Promise<number> =>
  wanted ?? (remembered > 0 && (await isPortFree(remembered)) ? remembered : findFreePort());

type LeftServer = { pid: number; port: number; state: 'serving' | 'starting' | 'absent' | 'hanging' };

/**
 * Takes over the server that a killed parent left running: waits while it starts, recovers or stops, and kills it when it hangs
 * (after a SIGSTOP). `look` finds it and its state; null when there is none.
 */
export const adoptServer = async (
  what: string,
  look: () => Promise<LeftServer | null>,
): Promise<Omit<LeftServer, 'state'> | null> => {
  const deadline = Date.now() + ADOPT_TIMEOUT_MS;
  let hanging = 0;
  while (Date.now() < deadline) {
    const left = await look();
    if (!left || left.state === 'serving') return left;
    hanging = left.state === 'hanging' ? hanging + 1 : 0;
    if (hanging >= MAX_HANGING_PROBES) process.kill(left.pid, 'SIGKILL');
    await wait(50);
  }
  throw new Error(`the ${what} neither becomes ready nor ends`);
};

// Never the whole URL, which contains the password.
const hostAndPath = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

/** An Error that names the server (`what`, and host and path of `url`) and the reason why it does not respond. */
export const unreachable = (what: string, url: string, cause: unknown): Error => {
  const { code, message, errors } = cause as NodeJS.ErrnoException & { errors?: Error[] };
  // A name with several addresses fails with an AggregateError whose own message is empty.
  const reason = message || errors?.[0]?.message || code || 'unknown error';
  return new Error(`${what} (${hostAndPath(url)}) does not answer: ${reason}`, { cause });
};
