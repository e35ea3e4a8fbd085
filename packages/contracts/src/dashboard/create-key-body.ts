import { z } from 'zod';
import { printable } from '../text.js';

/** Body of POST /app/api/keys. */
export const createKeyBody = z.strictObject({
  name: printable('name', 64)
    .transform((text) => text.trim())
    .pipe(z.string().min(1, 'name is empty')),
  test: z.boolean('test is true or false').default(false),
});
