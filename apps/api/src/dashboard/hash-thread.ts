import { hashPasswordSync, verifyPasswordSync } from '@vat/runtime/hash-password';
import { lowerPriority } from '../lower-priority.js';

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
