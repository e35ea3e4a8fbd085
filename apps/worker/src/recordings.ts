import { setTimeout as pause } from 'node:timers/promises';

/** Work that continues after its job has ended. */
type Recordings = {
  /** Starts `work` at once and repeats it while it fails, a limited number of times. Never throws. */
  start: (work: () => Promise<unknown>) => void;
  /** Resolves when fewer than {@link MAX_OPEN} are open. */
  room: () => Promise<void>;
  /** Resolves when all of it has ended. */
  drain: () => Promise<void>;
};

/**
 * Covers a restart of Postgres. The sweep may have the number looked up again meanwhile: the later write finds that the
 * request has moved on.
 */
const TRIES = 4;
const RETRY_DELAY_MS = 1_000;
/** Answers that may wait for Postgres. Lookups pause at this number. */
const MAX_OPEN = 200;

/**
 * Storing an answer needs no slot, so it does not hold the job: the next lookup of a member state begins while the last
 * answer is written. The row stays due until then, so the sweep repeats the lookup of an answer that is lost with its
 * process.
 */
export const createRecordings = (onGivenUp: (error: unknown) => void): Recordings => {
  const open = new Set<Promise<void>>();
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (tries === TRIES) return onGivenUp(error);
        await pause(RETRY_DELAY_MS);
      }
    }
  };
  return {
    start: (work) => {
      const running = run(work).finally(() => open.delete(running));
      open.add(running);
    },
    room: async () => {
      while (open.size >= MAX_OPEN) await Promise.race(open);
    },
    drain: async () => {
      while (open.size > 0) await Promise.all(open);
    },
  };
};
