import { setTimeout as wait } from 'node:timers/promises';
import { type Backoff, type Kept, keepAlive } from './keep-alive.js';
import type { Child } from './start-child.js';
import { StartupError } from './startup-error.js';

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
export type SupervisedChild = Kept & { untilReady: (signal: AbortSignal) => Promise<void> };

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
