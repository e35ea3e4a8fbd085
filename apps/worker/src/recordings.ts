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
 * How many run at once. Answers arrive in groups. If each had its statement at once, these would take the processors from the process
 * that makes the next lookups, whose slots would be idle (docs/benchmarks.md).
 */
const CONCURRENCY = 2;
/** One that takes longer makes room: it waits for a lock of its account, or for a Postgres that is far away. In milliseconds. */
const COUNTS_FOR_MS = 5;

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
  /** Lookups that wait for room, and recordings that wait for their turn. */
  const waitingForRoom: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let running = 0;
  const startNext = (): void => {
    // A process that stops has little time.
    while (waiting.length > 0 && (running < CONCURRENCY || stopsAt < Number.POSITIVE_INFINITY)) {
      running += 1;
      waiting.shift()?.();
    }
  };
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      startNext();
    });
    let counts = true;
    const makeRoom = (): void => {
      if (counts) running -= 1;
      counts = false;
      startNext();
    };
    const timer = setTimeout(makeRoom, COUNTS_FOR_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      makeRoom();
    }
  };
  const run = async <T>(requestId: string, work: () => Promise<T>): Promise<T> => {
    const endsAt = performance.now() + giveUpAfterMs;
    for (;;) {
      try {
        return await inTurn(work);
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
    const recording = run(requestId, work);
    const ended = recording
      .catch(() => undefined)
      .finally(() => {
        open.delete(ended);
        waitingForRoom.shift()?.();
      });
    open.add(ended);
    return recording;
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
      if (open.size >= MAX_OPEN) await new Promise<void>((resolve) => waitingForRoom.push(resolve));
    },
    drain: async () => {
      stopsAt = performance.now() + STOPPING_MS;
      startNext();
      while (open.size > 0) await Promise.all(open);
    },
  };
};
