import { constants, setPriority } from 'node:os';
import { hashPasswordSync, verifyPasswordSync } from '@vat/runtime/hash-password';

/**
 * Gives this thread a lower priority than the threads that answer calls. A hash takes a core for tens of milliseconds, and in
 * an attack on sign-in one follows the other. Only Linux has priorities of threads; elsewhere the call would affect the process.
 */
const lowerPriority = (): void => {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
};

/** Hashes a password; runs in a thread of its own. */
export const hashPassword = (password: string): string => {
  lowerPriority();
  return hashPasswordSync(password);
};

/** Verifies a password; runs in a thread of its own. */
export const verifyPassword = ({ phc, password }: { phc: string; password: string }): boolean => {
  lowerPriority();
  return verifyPasswordSync(phc, password);
};
