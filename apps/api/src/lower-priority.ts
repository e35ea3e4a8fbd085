import { constants, setPriority } from 'node:os';

/**
 * Gives the current thread a lower priority than the threads that answer calls: what it computes takes a core for long. Only
 * Linux has priorities of threads; elsewhere the call would affect the process.
 */
export const lowerPriority = (): void => {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
};
