import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A server run beside the service from the project's own binaries. */
export type EmbeddedServer = {
  /** Connection string, password included; stays the same over restarts of the server. */
  url: string;
  /** TCP port on 127.0.0.1. */
  port: number;
  /** The real server process. */
  pid: number;
  /** True when a server left behind by a killed parent was taken over. */
  reused: boolean;
  /** True when this start made the data directory, so nothing an earlier start stored is there. */
  created: boolean;
  /** Resolves with a short reason once the process is gone, whoever ended it. Never rejects. */
  exited: Promise<string>;
  /**
   * Ends the server in order, and by force after `timeoutMs` (default 5 000 ms) or when `force` is aborted.
   * Resolves when the process is gone.
   */
  stop: (options?: StopServerOptions) => Promise<void>;
};

/** How patient a stop is. */
export type StopServerOptions = { timeoutMs?: number | undefined; force?: AbortSignal | undefined };

/** How to reach a server of ours: kept beside its data, so that a restart answers at the same address. */
export type Access = { port: number; password: string };

const read = (file: string): Access | null => {
  try {
    const { port, password } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Access>;
    return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
  } catch {
    return null;
  }
};

/** Writes `access` to `file` (mode 0600) so that a crash leaves the old or the new content, never half of one. */
export const rememberAccess = (file: string, access: Access): void => {
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(access)}\n`, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
};

/** The access kept in `file`; with none yet, `port` 0 and a new password. */
export const recallAccess = (file: string): Access =>
  read(file) ?? { port: 0, password: randomBytes(24).toString('hex') };

// Never the whole address: it holds the password.
const place = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

/** An Error that says which server (`what`, and the place in `url`) does not answer, and why. */
export const unreachable = (what: string, url: string, cause: unknown): Error => {
  const { code, message, errors } = cause as NodeJS.ErrnoException & { errors?: Error[] };
  // A name with several addresses fails with an AggregateError whose own message is empty.
  const reason = message || errors?.[0]?.message || code || 'unknown error';
  return new Error(`${what} (${place(url)}) does not answer: ${reason}`, { cause });
};
