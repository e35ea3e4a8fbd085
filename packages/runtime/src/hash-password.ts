import { hash, verify } from '@node-rs/argon2';

/** OWASP's figures for argon2id, the library's default: 19 MiB, two passes, one lane. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** A password as a PHC string, argon2id. */
export const hashPassword = (password: string): Promise<string> => hash(password, OPTIONS);

/** True when `password` is the one behind a PHC string. */
export const verifyPassword = (phc: string, password: string): Promise<boolean> => verify(phc, password);
