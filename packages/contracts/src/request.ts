import { ABANDON_REASONS, type CheckRequest, publicId, readableEntries } from '@vat/domain';
import { z } from 'zod';
import { checkEntrySchema, checkSchema } from './check.js';
import { idOf, instant } from './text.js';

/** The body of a 202. */
export const acceptanceSchema = z
  .strictObject({
    request_id: idOf('request'),
    test: z.literal(true).optional(),
    status: z.literal('pending'),
    poll_url: z.url(),
    accepted_at: instant(),
    give_up_at: instant(),
    checks: z.array(checkEntrySchema),
  })
  .meta({
    id: 'Acceptance',
    description: 'The upstream has not answered yet. The request continues in the background.',
  });

/** GET /v1/requests/{id}. */
export const requestSchema = z
  .strictObject({
    id: idOf('request'),
    object: z.literal('request'),
    test: z.literal(true).optional(),
    status: z.enum(['pending', 'completed', 'abandoned']),
    vat_number: z.string(),
    created_at: instant(),
    accepted_at: instant().nullable(),
    give_up_at: instant().nullable(),
    attempts: z.int().min(0),
    next_attempt_at: instant()
      .nullable()
      .describe(
        'When the next lookup is due. A time that has passed: it waits for its turn, or for a member state that is down.',
      ),
    last_error: z.string().nullable(),
    reason: z.enum(ABANDON_REASONS).nullable(),
    check: checkSchema.nullable(),
  })
  .meta({ id: 'Request', description: 'A request for a check, from its acceptance to its end.' });

const time = (at: Date | null): string | null => at?.toISOString() ?? null;

/** GET /v1/requests/{id}. While its caller waits, a request reads as pending. Throws for a withdrawn one. */
export const presentRequest = (
  request: CheckRequest,
  check: z.input<typeof checkSchema> | null,
): z.input<typeof requestSchema> => {
  const { state } = request;
  if (state === 'withdrawn') throw new Error('a withdrawn request was refused to its caller and is not shown');
  const isPending = state === 'pending';
  return {
    id: publicId('request', request.id),
    object: 'request',
    ...(request.test ? { test: true } : {}),
    status: state === 'waiting' ? 'pending' : state,
    vat_number: request.vatNumber,
    created_at: request.createdAt.toISOString(),
    accepted_at: time(request.acceptedAt),
    // A direct request that was not answered 202 promises nothing.
    give_up_at:
      request.origin === 'direct' && !isPending && request.acceptedAt === null ? null : time(request.giveUpAt),
    attempts: request.attempts,
    next_attempt_at: isPending && request.answer === null ? time(request.dueAt) : null,
    last_error: request.lastError,
    reason: ABANDON_REASONS.find((reason) => reason === request.reason) ?? null,
    check,
  };
};

/** The body of a 202. */
export const presentAcceptance = (
  request: Pick<CheckRequest, 'id' | 'test' | 'entries'> & { acceptedAt: Date; giveUpAt: Date },
  baseUrl: string,
): z.input<typeof acceptanceSchema> => ({
  request_id: publicId('request', request.id),
  ...(request.test ? { test: true } : {}),
  status: 'pending',
  poll_url: `${baseUrl}/v1/requests/${publicId('request', request.id)}`,
  accepted_at: request.acceptedAt.toISOString(),
  give_up_at: request.giveUpAt.toISOString(),
  checks: readableEntries(request.entries),
});
