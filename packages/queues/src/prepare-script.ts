import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** Runs a script with its keys and arguments; rejects as any command does. */
export type RunScript = (keys: readonly string[], args: readonly string[]) => Promise<unknown>;

const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * A Lua script that is sent by its hash, and whole only when Redis does not know it: it was started anew, or this is the
 * first time. A script of a kilobyte or two that goes along with each call costs more than what it does.
 */
export const prepareScript = (connection: Redis, script: string): RunScript => {
  const hash = createHash('sha1').update(script).digest('hex');
  return async (keys, args) => {
    try {
      return await connection.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return connection.eval(script, keys.length, ...keys, ...args);
    }
  };
};
