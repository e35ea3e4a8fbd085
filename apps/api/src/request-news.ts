import type { News } from '@vat/domain';

/** A lost hint is made good by asking Postgres about everything that waits, once every this long. */
const POLL_EVERY_MS = 1_000;

export type RequestNews = {
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
export const requestNews = (stopping: AbortSignal): RequestNews => {
  const waiting = new Map<string, Set<() => void>>();
  const hinted = new Set<string>();
  const wakeAll = () => {
    for (const wakers of [...waiting.values()]) for (const wake of [...wakers]) wake();
  };
  const timer = setInterval(wakeAll, POLL_EVERY_MS);
  stopping.addEventListener('abort', wakeAll);

  const open = (requestId: string): News => {
    let wakeMine: () => void = () => undefined;
    return {
      next: (until) =>
        new Promise<void>((resolve) => {
          // A hint that came between reading the row and waiting for news must not be slept through.
          if (hinted.delete(requestId) || stopping.aborted) return resolve();
          const wakers = waiting.get(requestId) ?? new Set();
          const wake = () => {
            clearTimeout(end);
            // Once: whoever waits by now has a set of its own.
            if (!wakers.delete(wake)) return;
            if (wakers.size === 0) waiting.delete(requestId);
            resolve();
          };
          const end = setTimeout(wake, Math.max(0, until.getTime() - Date.now()));
          waiting.set(requestId, wakers.add(wake));
          wakeMine = wake;
        }),
      close: () => {
        wakeMine();
        hinted.delete(requestId);
      },
    };
  };

  return {
    open,
    hint: (requestId) => {
      const wakers = waiting.get(requestId);
      if (wakers) for (const wake of [...wakers]) wake();
      else hinted.add(requestId);
      // A hint for a call that has ended is never collected: keep the set from growing.
      if (hinted.size > 10_000) hinted.clear();
    },
    close: () => {
      clearInterval(timer);
      wakeAll();
    },
  };
};
