import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waits until `check` returns something other than undefined, null or false; throws after `timeoutMs`, naming `what`.
 */
export const until = async <T>(
  what: string,
  check: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<NonNullable<T>> => {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const found = await check();
    if (found !== undefined && found !== null && found !== false) return found;
    await wait(20);
  }
  throw new Error(`timed out after ${timeoutMs} ms, waiting until ${what}`);
};
