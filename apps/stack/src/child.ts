import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { type EmbeddedServer, type StopServerOptions, stopProcess, waitForExit } from '@vat/embedded';
import { WRONG_SETTINGS } from '@vat/runtime';
import { StartupError } from './read-settings.js';

/** A supervised process: an embedded server or a child process. */
type Running = Pick<EmbeddedServer, 'pid' | 'exited' | 'stop'>;

/** A program with its arguments. */
export type Command = { file: string; args: string[] };

/** A child process; `ready` resolves when it reports readiness over IPC, and stays pending if it ends before. */
type Child = Running & { ready: Promise<void> };

const STOP_TIMEOUT_MS = 10_000;

/**
 * Starts a process of the service. The process inherits the output and uses IPC: it sends `{type: 'ready'}`, and ends
 * when the channel closes (the supervisor was killed). It has its own session, so that Ctrl-C reaches it only through
 * the supervisor and the servers are still running while it returns its jobs.
 */
export const startChild = ({ file, args }: Command, env: NodeJS.ProcessEnv): Child => {
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const pid = child.pid ?? 0;
  const exited = waitForExit(child);
  // A message to a child that just ended is reported as an error here; `exited` already handles its end.
  child.on('error', () => undefined);
  return {
    pid,
    exited,
    ready: new Promise((resolve) => {
      child.on('message', (message: { type?: unknown }) => {
        if (message?.type === 'ready') resolve();
      });
    }),
    stop: async ({ timeoutMs = STOP_TIMEOUT_MS, force } = {}) => {
      // Without a pid the process never started, and a signal to pid 0 would reach the supervisor itself.
      if (pid === 0) return;
      await stopProcess({ pid, exited, force, steps: [{ signal: 'SIGTERM', timeoutMs }] });
    },
  };
};

type Supervise = {
  name: string;
  first: Running;
  /** Starts the process again; after a rejection it is called again after the next delay. */
  restart: () => Promise<Running>;
  /** Called when the pid has changed. */
  changed: () => void;
  log: (line: string) => void;
};

/** A process that is restarted whenever it ends, until `stop`. */
export type Supervised = { pid: () => number; stop: (options?: StopServerOptions) => Promise<void> };

/** Delay before a restart: `firstMs`, doubled up to `maxMs`, and `firstMs` again after a process ran for `stableMs`. */
const BACKOFF = { firstMs: 200, maxMs: 5_000, stableMs: 30_000 };

/**
 * Supervises a running process and restarts it whenever it ends. Only the end of the process matters: one that is slow or
 * stopped by SIGSTOP still exists, and a restart would create a second one.
 */
export const supervise = ({ name, first, restart, changed, log }: Supervise): Supervised => {
  const stopping = new AbortController();
  let running = first;

  const restartUntilStopped = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      let reason = `ended (${await running.exited})`;
      if (Date.now() - startedAt >= BACKOFF.stableMs) failures = 0;
      for (let restarted = false; !restarted && !stopping.signal.aborted; ) {
        const delayMs = Math.min(BACKOFF.firstMs * 2 ** failures, BACKOFF.maxMs);
        failures += 1;
        log(`${name} ${reason}; restarting in ${delayMs} ms`);
        await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          running = await restart();
          restarted = true;
          if (!stopping.signal.aborted) changed();
        } catch (error) {
          reason = `did not start (${(error as Error).message})`;
        }
      }
    }
  };
  const supervision = restartUntilStopped();

  return {
    pid: () => running.pid,
    stop: async (options) => {
      stopping.abort();
      // The second call stops a process that was being restarted when the loop ended.
      await running.stop(options);
      await supervision;
      await running.stop(options);
    },
  };
};

type SuperviseChild = {
  name: string;
  start: () => Child;
  changed: () => void;
  log: (line: string) => void;
};

const MAX_STARTS = 3;
const READY_TIMEOUT_MS = 60_000;

/** A supervised child process; `untilReady` waits until it is ready for the first time. */
type SupervisedChild = Supervised & { untilReady: (signal: AbortSignal) => Promise<void> };

/**
 * Starts a child process and supervises it. It is restarted without a limit; but if it ends three times before it is
 * ready for the first time, or once because of its settings, or is not ready within 60 s, `untilReady` throws StartupError.
 */
export const superviseChild = ({ name, start, changed, log }: SuperviseChild): SupervisedChild => {
  let starts = 0;
  let resolveReady: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    resolveReady = resolve;
    fail = reject;
  });
  ready.catch(() => undefined);
  const launch = (): Child => {
    const child = start();
    starts += 1;
    void child.ready.then(resolveReady);
    void child.exited.then((reason) => {
      if (reason === `exit code ${WRONG_SETTINGS}`)
        fail(new StartupError(`the settings of ${name} cannot be used; see its output above`));
      if (starts < MAX_STARTS) return;
      fail(new StartupError(`${name} ended ${MAX_STARTS} times before it was ready (${reason}); see its output above`));
    });
    return child;
  };
  const supervised = supervise({
    name,
    first: launch(),
    restart: async () => launch(),
    changed,
    log,
  });
  return {
    ...supervised,
    untilReady: async (signal) => {
      const done = new AbortController();
      const limit = wait(READY_TIMEOUT_MS, undefined, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
        throw new StartupError(`${name} was not ready within ${READY_TIMEOUT_MS / 1000} s`);
      });
      try {
        await Promise.race([ready, limit]);
      } finally {
        done.abort();
      }
    },
  };
};
