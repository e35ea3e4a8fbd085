import { setTimeout as pause } from 'node:timers/promises';
import type { Recordings } from '@vat/domain';

/**
 * Covers a restart of Postgres. The sweep may have the number looked up again meanwhile: the later write finds that the
 * request has moved on.
 */
const GIVE_UP_AFTER_MS = 60_000;
/** A stopping process has little time. */
const STOPPING_MS = 3_000;
const RETRY_DELAY_MS = 500;
/** Answers that may wait for Postgres. Lookups pause at this number. */
const MAX_OPEN = 200;

/**
 * Storing an answer needs no slot, so it does not hold the job: the next lookup of a member state begins while the last
 * answer is written. The row stays due until then, so the sweep repeats the lookup of an answer that is lost with its
 * process.
 */
export const createRecordings = (
  onGivenUp: (error: unknown, requestId: string) => void,
  { giveUpAfterMs = GIVE_UP_AFTER_MS, retryDelayMs = RETRY_DELAY_MS } = {},
): Recordings & {
  /** Resolves when all of it has ended. From then on work that fails is repeated for {@link STOPPING_MS} at most. */
  drain: () => Promise<void>;
} => {
  const open = new Set<Promise<unknown>>();
  const requests = new Set<string>();
  let stopsAt = Number.POSITIVE_INFINITY;
  const run = async <T>(requestId: string, work: () => Promise<T>): Promise<T> => {
    const endsAt = performance.now() + giveUpAfterMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() + retryDelayMs > Math.min(endsAt, stopsAt)) {
          onGivenUp(error, requestId);
          throw error;
        }
        await pause(retryDelayMs);
      }
    }
  };
  const complete = async <T>(requestId: string, work: () => Promise<T>): Promise<T> => {
    const running = run(requestId, work);
    const ended = running.catch(() => undefined).finally(() => open.delete(ended));
    open.add(ended);
    return running;
  };
  return {
    start: (requestId, work) => {
      requests.add(requestId);
      complete(requestId, work)
        .catch(() => undefined)
        .finally(() => requests.delete(requestId));
    },
    isOpen: (requestId) => requests.has(requestId),
    complete,
    room: async () => {
      while (open.size >= MAX_OPEN) await Promise.race(open);
    },
    drain: async () => {
      stopsAt = performance.now() + STOPPING_MS;
      while (open.size > 0) await Promise.all(open);
    },
  };
};
