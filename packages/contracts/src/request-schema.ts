import { ABANDON_REASONS } from '@vat/domain';
import { z } from 'zod';
import { checkEntrySchema, checkSchema } from './check-schema.js';
import { idOf, instant } from './instant.js';

/** The body of a 202. */
export const acceptanceSchema = z
  .strictObject({
    request_id: idOf('req'),
    test: z.literal(true).optional(),
    status: z.literal('pending'),
    poll_url: z.url(),
    accepted_at: instant(),
    give_up_at: instant(),
    checks: z.array(checkEntrySchema),
  })
  .meta({ id: 'Acceptance', description: 'The upstream has not answered yet; the work goes on in the background.' });

/** GET /v1/requests/{id}. */
export const requestSchema = z
  .strictObject({
    id: idOf('req'),
    object: z.literal('request'),
    test: z.literal(true).optional(),
    status: z.enum(['pending', 'completed', 'abandoned']),
    vat_number: z.string(),
    created_at: instant(),
    accepted_at: instant().nullable(),
    give_up_at: instant().nullable(),
    attempts: z.int().min(0),
    next_attempt_at: instant().nullable(),
    last_error: z.string().nullable(),
    reason: z.enum(ABANDON_REASONS).nullable(),
    check: checkSchema.nullable(),
  })
  .meta({ id: 'Request', description: 'A request for a check, from admission to its one end.' });
