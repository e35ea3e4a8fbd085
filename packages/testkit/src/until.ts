import { setTimeout as pause } from 'node:timers/promises';

const LEAST_PAUSE_MS = 10;
/** Most looks are calls of a whole service: looked at 60 times a second it would be busier with them than with its work. */
const MAX_PAUSE_MS = 100;

/**
 * Waits until `look` gives something other than null, undefined or false, and returns it. Throws after `withinMs`, naming
 * `what` was waited for. Looks often at first, and ever less so: what is seen is at most a tenth of the wait old.
 */
export const until = async <T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  withinMs = 10_000,
): Promise<T> => {
  const start = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    const waited = performance.now() - start;
    if (waited > withinMs) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(Math.min(MAX_PAUSE_MS, Math.max(LEAST_PAUSE_MS, waited / 10)));
  }
};
