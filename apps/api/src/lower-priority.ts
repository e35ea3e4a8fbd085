import { constants, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/**
 * Gives this thread a lower priority than the threads that answer calls. Hashing a password or reading a file takes a core for
 * tens of milliseconds to a second, and may follow without a pause. Only Linux has priorities of threads; elsewhere, and in the
 * main thread, the call would affect the process.
 */
export const lowerPriority = (): void => {
  if (process.platform === 'linux' && !isMainThread) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
};
