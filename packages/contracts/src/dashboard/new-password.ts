import { z } from 'zod';

/** Fewest and most characters of a password that is chosen here. */
export const PASSWORD_LENGTH = { min: 12, max: 1_024 } as const;

/** A password that somebody chooses, taken as it is typed: length is what makes it strong. */
export const newPassword = () => z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max);
