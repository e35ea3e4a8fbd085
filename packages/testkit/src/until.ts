import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until `look` gives something other than null, undefined or false, and returns it. Throws after `withinMs`, naming
 * `what` was waited for and the last thing seen.
 */
export const until = async <T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  withinMs = 10_000,
): Promise<T> => {
  const end = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen;
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(15);
  }
};
