import { z } from 'zod';
import { printable } from '../text.js';

/**
 * Body of POST /app/api/session. The address is only cleaned, not judged: one that cannot exist is answered like one that
 * does not. The password is taken as it is typed.
 */
export const signInBody = z.strictObject({
  email: printable(320).transform((text) => text.trim().toLowerCase()),
  password: z.string().min(1).max(1_024),
});
export type SignInBody = z.output<typeof signInBody>;
