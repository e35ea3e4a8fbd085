import { z } from 'zod';
import { printable } from '../text.js';
import { newPassword } from './new-password.js';

/** Body of POST /app/api/sign-up. The address is judged for its form alone: nothing is sent to it. */
export const signUpBody = z.strictObject({
  name: printable(100).transform((text) => text.trim()),
  email: printable(254)
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.email()),
  password: newPassword(),
});
export type SignUpBody = z.output<typeof signUpBody>;
