import type { News } from '@vat/domain';

/** A lost hint is made good by lookingUp Postgres about everything that waits, once every this long. */
const POLL_EVERY_MS = 1_000;

export type RequestNotifier = {
  open: (requestId: string) => News;
  /** A hint arrived: somebody moved this request. */
  hint: (requestId: string) => void;
  close: () => void;
};

/**
 * Wakes the calls of this process that wait for a request: on its hint, every second (a hint is lost with Redis), at
 * the call's own deadline, and when the process stops. Two calls may wait for one request: a repeat whose Idempotency-Key
 * is not locked any more waits beside the first.
 */
export const requestNotifier = (stopping: AbortSignal): RequestNotifier => {
  const waiting = new Map<string, Set<() => void>>();
  const hinted = new Set<string>();
  const signalAll = () => {
    for (const signals of [...waiting.values()]) for (const wake of [...signals]) wake();
  };
  const timer = setInterval(signalAll, POLL_EVERY_MS);
  stopping.addEventListener('abort', signalAll);

  const open = (requestId: string): News => {
    let signalOwn: () => void = () => undefined;
    return {
      next: (until) =>
        new Promise<void>((resolve) => {
          // A hint that came between reading the row and waiting for news must not be slept through.
          if (hinted.delete(requestId) || stopping.aborted) return resolve();
          const signals = waiting.get(requestId) ?? new Set();
          const wake = () => {
            clearTimeout(end);
            // Once: whoever waits by now has a set of its own.
            if (!signals.delete(wake)) return;
            if (signals.size === 0) waiting.delete(requestId);
            resolve();
          };
          const end = setTimeout(wake, Math.max(0, until.getTime() - Date.now()));
          waiting.set(requestId, signals.add(wake));
          signalOwn = wake;
        }),
      close: () => {
        signalOwn();
        hinted.delete(requestId);
      },
    };
  };

  return {
    open,
    hint: (requestId) => {
      const signals = waiting.get(requestId);
      if (signals) for (const wake of [...signals]) wake();
      else hinted.add(requestId);
      // A hint for a call that has ended is never collected: keep the set from growing.
      if (hinted.size > 10_000) hinted.clear();
    },
    close: () => {
      clearInterval(timer);
      signalAll();
    },
  };
};
