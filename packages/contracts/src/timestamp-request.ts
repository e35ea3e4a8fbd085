import { z } from 'zod';

/** The body of POST /v1/checks/{id}/timestamp, where one is sent: there is nothing to say. */
export const timestampRequestBody = z.strictObject({});
