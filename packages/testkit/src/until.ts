import { setTimeout as pause } from 'node:timers/promises';

const MIN_PAUSE_MS = 10;
/** Most polls call the service, so polling too often would slow down the work that the test waits for. */
const MAX_PAUSE_MS = 100;

/** Ends a wait that is in vain, with its name and before the time of its test is over. On a busy machine half a minute can pass. */
const IN_VAIN_MS = 60_000;

/**
 * Polls until `poll` returns something other than null, undefined or false, and returns it. Throws after `withinMs` with
 * `what` in the message. The interval grows with the time waited, up to a tenth of it. A time that the service promises is
 * given as `withinMs`.
 */
export const until = async <T>(
  what: string,
  poll: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  withinMs = IN_VAIN_MS,
): Promise<T> => {
  const start = performance.now();
  for (;;) {
    const result = await poll();
    if (result !== null && result !== undefined && result !== false) return result;
    const waited = performance.now() - start;
    if (waited > withinMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waited / 10)));
  }
};
