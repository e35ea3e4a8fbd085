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
 * the call's own deadline, and when the process stops.
 */
export const requestNews = (stopping: AbortSignal): RequestNews => {
  const waiting = new Map<string, () => void>();
  const hinted = new Set<string>();
  const wakeAll = () => {
    for (const wake of [...waiting.values()]) wake();
  };
  const timer = setInterval(wakeAll, POLL_EVERY_MS);
  stopping.addEventListener('abort', wakeAll);

  return {
    open: (requestId) => ({
      next: (until) =>
        new Promise<void>((resolve) => {
          // A hint that came between reading the row and waiting for news must not be slept through.
          if (hinted.delete(requestId) || stopping.aborted) return resolve();
          const end = setTimeout(() => waiting.get(requestId)?.(), Math.max(0, until.getTime() - Date.now()));
          waiting.set(requestId, () => {
            clearTimeout(end);
            waiting.delete(requestId);
            resolve();
          });
        }),
      close: () => {
        waiting.get(requestId)?.();
        hinted.delete(requestId);
      },
    }),
    hint: (requestId) => {
      const wake = waiting.get(requestId);
      if (wake) wake();
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
