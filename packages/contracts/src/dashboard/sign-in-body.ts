import { z } from 'zod';
import { printable } from '../text.js';

/**
 * Body of POST /app/api/session. The address is only cleaned, not judged: one that cannot exist is answered like one that
 * does not. The password is taken as it is typed.
 */
export const signInBody = z.strictObject({
  email: printable('email', 320).transform((text) => text.trim().toLowerCase()),
  password: z.string('password is text').min(1, 'password is empty').max(1_024, 'password is over 1024 characters'),
});
export type SignInBody = z.output<typeof signInBody>;
