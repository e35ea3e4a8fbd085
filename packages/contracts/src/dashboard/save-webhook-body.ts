import { z } from 'zod';

/** Body of PUT /app/api/webhook. Any text is judged by the address rule, which has its own code. */
export const saveWebhookBody = z.strictObject({ url: z.string() });
