import { hash, hashSync, verifySync } from '@node-rs/argon2';

/** The parameters that OWASP recommends for argon2id, which is the library's default: 19 MiB, two passes, one lane. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashes a password with argon2id; returns a PHC string. */
export const hashPassword = (password: string): Promise<string> => hash(password, OPTIONS);

/** {@link hashPassword} in the calling thread. */
export const hashPasswordSync = (password: string): string => hashSync(password, OPTIONS);

/** True when `password` matches the PHC string. It blocks the calling thread. */
export const verifyPasswordSync = (phc: string, password: string): boolean => verifySync(phc, password);
