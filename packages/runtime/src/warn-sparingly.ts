import type { Logger } from './create-logger.js';
import { errorFields } from './create-logger.js';
import { saySparingly } from './say-sparingly.js';

/** Warns of a failure that comes back many times a second on dozens of connections (a server that is away), sparingly. */
export const warnSparingly = (
  log: Pick<Logger, 'warn'>,
  message: string,
  everyMs: number,
  now: () => Date,
): ((error: unknown, fields?: Record<string, unknown>) => void) => {
  const say = saySparingly((fields) => log.warn(message, fields), everyMs, now);
  return (error, fields = {}) => say({ ...fields, ...errorFields(error) });
};
