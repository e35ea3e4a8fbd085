import { setTimeout as pause } from 'node:timers/promises';

/** Work that goes on behind a job that has ended. */
export type Recordings = {
  /** Runs `work` at once, and again while it fails, until it gave up; never throws. */
  start: (work: () => Promise<unknown>) => void;
  /** Resolves when fewer than the most that may be open are. */
  room: () => Promise<void>;
  /** Resolves when all of it has ended. */
  drain: () => Promise<void>;
};

/**
 * Long enough for Postgres to be started again. The sweep may have the request asked again meanwhile: what is written
 * second finds that the request has moved on.
 */
const TRIES = 4;
const PAUSE_MS = 1_000;
/** More answers than this are not asked for before some of them are written. */
const MOST_OPEN = 200;

/**
 * Storing an answer needs no slot, so it does not hold the job: a member state's next ask begins while the last answer
 * is written. The row stays due until then, so an answer that is lost with its process is asked for again by the sweep.
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
        await pause(PAUSE_MS);
      }
    }
  };
  return {
    start: (work) => {
      const running = run(work).finally(() => open.delete(running));
      open.add(running);
    },
    room: async () => {
      while (open.size >= MOST_OPEN) await Promise.race(open);
    },
    drain: async () => {
      while (open.size > 0) await Promise.all(open);
    },
  };
};
