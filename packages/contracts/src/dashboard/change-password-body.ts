import { z } from 'zod';
import { newPassword, PASSWORD_LENGTH } from './new-password.js';

/** Body of PUT /app/api/password. */
export const changePasswordBody = z
  .strictObject({
    current_password: z.string().min(1).max(PASSWORD_LENGTH.max),
    new_password: newPassword(),
  })
  .refine((body) => body.new_password !== body.current_password, {
    path: ['new_password'],
    message: 'must not be the current one',
  });
