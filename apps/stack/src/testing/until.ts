import { setTimeout as wait } from 'node:timers/promises';

/** Waits until `look` returns something that is not undefined or false; throws after `timeoutMs`, naming `what`. */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<NonNullable<T>> => {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await wait(20);
  }
  throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
};
