import { z } from 'zod';

/** The body of a POST that needs none, where one is sent: there is nothing to say. */
export const emptyBody = z.strictObject({});
