import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { type EmbeddedServer, type StopServerOptions, stopProcess, waitForExit } from '@vat/embedded';
import { StartupError } from './read-settings.js';

/** A process under supervision: an embedded server, or a child of ours. */
type Running = Pick<EmbeddedServer, 'pid' | 'exited' | 'stop'>;

/** A program with its arguments. */
export type Command = { file: string; args: string[] };

/** A child of ours; `ready` resolves when it says so over IPC, and stays pending when it ends before. */
type Child = Running & { ready: Promise<void> };

const GRACE_MS = 10_000;

/**
 * Starts a process of the service. It shares our output, and talks over IPC: it sends `{type: 'ready'}`, and takes the loss
 * of the channel (we were killed) as a request to end. It has a session of its own, so that Ctrl-C reaches it through us alone
 * and the servers below it are still there while it puts its work back.
 */
export const startChild = ({ file, args }: Command, env: NodeJS.ProcessEnv): Child => {
  const child = spawn(file, args, { env, detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const pid = child.pid ?? 0;
  const exited = waitForExit(child);
  // Sending to a child that just died is reported here; its end is what counts, and that is watched.
  child.on('error', () => undefined);
  return {
    pid,
    exited,
    ready: new Promise((resolve) => {
      child.on('message', (message: { type?: unknown }) => {
        if (message?.type === 'ready') resolve();
      });
    }),
    stop: async ({ timeoutMs = GRACE_MS, force } = {}) => {
      // Without a pid there never was a process, and signals to pid 0 would reach ourselves.
      if (pid === 0) return;
      await stopProcess({ pid, exited, force, steps: [{ signal: 'SIGTERM', timeoutMs }] });
    },
  };
};

/** Pauses before a restart: `firstMs`, doubling up to `maxMs`, and back to `firstMs` once a process lived `stableMs`. */
export type Backoff = { firstMs: number; maxMs: number; stableMs: number };

type KeepAlive = {
  name: string;
  first: Running;
  /** Starts it again; may reject, and is then tried again after the next pause. */
  restart: () => Promise<Running>;
  /** Called whenever the pid has changed. */
  changed: () => void;
  say: (line: string) => void;
  backoff?: Backoff;
};

/** A process that is started again whenever it dies, until `stop`. */
export type Kept = { pid: () => number; stop: (options?: StopServerOptions) => Promise<void> };

const BACKOFF: Backoff = { firstMs: 200, maxMs: 5_000, stableMs: 30_000 };

/**
 * Watches a running process and starts it again when it has ended, never giving up. Only the end of the process counts: one
 * that is slow, or held by SIGSTOP, lives, and starting another beside it would make two.
 */
export const keepAlive = ({ name, first, restart, changed, say, backoff = BACKOFF }: KeepAlive): Kept => {
  const stopping = new AbortController();
  let running = first;

  const revive = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const born = Date.now();
      let reason = `ended (${await running.exited})`;
      if (Date.now() - born >= backoff.stableMs) failures = 0;
      for (let revived = false; !revived && !stopping.signal.aborted; ) {
        const pause = Math.min(backoff.firstMs * 2 ** failures, backoff.maxMs);
        failures += 1;
        say(`${name} ${reason}; starting it again in ${pause} ms`);
        await wait(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          running = await restart();
          revived = true;
          if (!stopping.signal.aborted) changed();
        } catch (error) {
          reason = `did not start (${(error as Error).message})`;
        }
      }
    }
  };
  const reviving = revive();

  return {
    pid: () => running.pid,
    stop: async (options) => {
      stopping.abort();
      // A restart under way is stopped by the second call, when the loop has come to its end.
      await running.stop(options);
      await reviving;
      await running.stop(options);
    },
  };
};

type SuperviseChild = {
  name: string;
  start: () => Child;
  changed: () => void;
  say: (line: string) => void;
  backoff?: Backoff | undefined;
};

const TRIES = 3;
const READY_MS = 60_000;

/** A child under supervision; `untilReady` waits for its first readiness. */
type SupervisedChild = Kept & { untilReady: (signal: AbortSignal) => Promise<void> };

/**
 * Starts a child and keeps it alive. Once it was ready it is restarted for ever; before that, three ends in a row mean that it
 * cannot work here, and `untilReady` throws StartupError (as after 60 s without a sign).
 */
export const superviseChild = ({ name, start, changed, say, backoff }: SuperviseChild): SupervisedChild => {
  let starts = 0;
  let up: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    up = resolve;
    fail = reject;
  });
  ready.catch(() => undefined);
  const launch = (): Child => {
    const child = start();
    starts += 1;
    void child.ready.then(up);
    void child.exited.then((reason) => {
      if (starts < TRIES) return;
      fail(new StartupError(`${name} ended ${TRIES} times before it was ready (${reason}); what it said stands above`));
    });
    return child;
  };
  const kept = keepAlive({
    name,
    first: launch(),
    restart: async () => launch(),
    changed,
    say,
    ...(backoff && { backoff }),
  });
  return {
    ...kept,
    untilReady: async (signal) => {
      const done = new AbortController();
      const limit = wait(READY_MS, undefined, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
        throw new StartupError(`${name} was not ready within ${READY_MS / 1000} s`);
      });
      try {
        await Promise.race([ready, limit]);
      } finally {
        done.abort();
      }
    },
  };
};
