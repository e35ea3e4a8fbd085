import type { Logger } from './create-logger.js';
import { errorFields } from './create-logger.js';

/**
 * Warns of a failure that comes back many times a second on dozens of connections (a server that is away) once, and then
 * at most every `everyMs`, with the number of times it was not said.
 */
export const warnSparingly = (
  log: Pick<Logger, 'warn'>,
  message: string,
  everyMs: number,
  now: () => Date,
): ((error: unknown, fields?: Record<string, unknown>) => void) => {
  let quietUntil = 0;
  let unsaid = 0;
  return (error, fields = {}) => {
    const at = now().getTime();
    if (at < quietUntil) {
      unsaid += 1;
      return;
    }
    log.warn(message, { ...fields, ...errorFields(error), ...(unsaid > 0 ? { unsaid } : {}) });
    quietUntil = at + everyMs;
    unsaid = 0;
  };
};
