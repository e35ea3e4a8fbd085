import { z } from 'zod';
import { newPassword, PASSWORD_LENGTH } from './new-password.js';

/** Body of PUT /app/api/password. */
export const changePasswordBody = z
  .strictObject({
    current_password: z
      .string('current_password is text')
      .min(1, 'current_password is empty')
      .max(PASSWORD_LENGTH.max, `current_password is longer than ${PASSWORD_LENGTH.max} characters`),
    new_password: newPassword('new_password'),
  })
  .refine((body) => body.new_password !== body.current_password, {
    path: ['new_password'],
    message: 'new_password is the current one',
  });
