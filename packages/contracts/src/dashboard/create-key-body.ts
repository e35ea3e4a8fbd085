import { z } from 'zod';
import { printable } from '../text.js';

/** Body of POST /app/api/keys. */
export const createKeyBody = z.strictObject({
  name: printable('name', 64),
  test: z.boolean('test is true or false').default(false),
});
