import { ABANDON_REASONS, type AccountEvent, EVENT_TYPES, type EventType, publicId } from '@vat/domain';
import { z } from 'zod';
import { checkSchema } from './check.js';
import { checkExample } from './check-operations.js';
import { pageQuery, periodFilters } from './lists.js';
import { count, idOf, instant, wholeNumberText } from './text.js';
import { changeFields } from './watch.js';

/** A kind of event: what it means, and its body with an example. */
type EventKind = { summary: string; schema: z.ZodObject; example: object };

const test = { test: z.literal(true).optional().describe('Only in events of test requests.') };
const requestId = 'req_01m7w2q8yxe0a9v6n3r4t7y1bb';

/** The kinds of events, each with its body. */
export const EVENTS = {
  'check.completed': {
    summary: 'A check that was answered 202 is completed',
    schema: z.strictObject({
      event: z.literal('check.completed'),
      ...test,
      request_id: idOf('request'),
      check: checkSchema,
    }),
    example: { event: 'check.completed', request_id: requestId, check: checkExample },
  },
  'check.failed': {
    summary: 'A check that was answered 202 was abandoned',
    schema: z.strictObject({
      event: z.literal('check.failed'),
      ...test,
      request_id: idOf('request'),
      reason: z.enum(ABANDON_REASONS),
      last_error: z.string().optional().describe('The last code of the upstream, if there was one.'),
    }),
    example: {
      event: 'check.failed',
      request_id: requestId,
      reason: 'UPSTREAM_NO_ANSWER',
      last_error: 'MS_UNAVAILABLE',
    },
  },
  'batch.completed': {
    summary: 'A batch has no queued line left',
    schema: z.strictObject({
      event: z.literal('batch.completed'),
      batch_id: idOf('batch'),
      total: count('Lines of the file.'),
      done: count('Lines that have a check.'),
      failed: count('Lines that ended with an error.'),
    }),
    example: {
      event: 'batch.completed',
      batch_id: 'bat_01m7w2q8yxe0a9v6n3r4t7y1bb',
      total: 120,
      done: 118,
      failed: 2,
    },
  },
  'watch.changed': {
    summary: 'A run of a watch found a change',
    schema: z.strictObject({
      event: z.literal('watch.changed'),
      watch_id: idOf('watch'),
      vat_number: z.string(),
      label: z.string().nullable(),
      ...changeFields,
      check_id: idOf('check'),
    }),
    example: {
      event: 'watch.changed',
      watch_id: 'wat_01m7w2q8yxe0a9v6n3r4t7y1bb',
      vat_number: 'PL5260250274',
      label: 'Main supplier',
      kind: 'validity',
      before: true,
      after: false,
      check_id: 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc',
    },
  },
  'webhook.test': {
    summary: 'A test event was requested',
    schema: z.strictObject({ event: z.literal('webhook.test'), sent_at: instant() }),
    example: { event: 'webhook.test', sent_at: '2026-11-20T10:00:00.000Z' },
  },
} as const satisfies Record<EventType, EventKind>;

/** The longest that a call waits for an event. */
const MAX_WAIT_S = 20;

/** Query of GET /v1/events. */
export const eventListQuery = z
  .strictObject({
    ...pageQuery,
    type: z.enum(EVENT_TYPES).optional(),
    ...periodFilters,
    // Any text: the route says what to do about one that is no event.
    after: z
      .string()
      .optional()
      .meta({
        openapi: {
          type: 'string',
          description:
            'The id of an event, or `start`: the events after it, oldest first. Not with `cursor`, `from` or `to`.',
          examples: ['start', 'evt_01kafksw1se0a9v6n3r4t7y1bb'],
        },
      }),
    wait: wholeNumberText(
      { min: 0, max: MAX_WAIT_S, default: 0 },
      'Seconds to wait until there is an event. Only with `after`.',
    ),
  })
  .refine(({ after, cursor, from, to }) => after === undefined || (cursor ?? from ?? to) === undefined, {
    path: ['after'],
    error: 'cannot be combined with cursor, from or to',
  })
  .refine(({ after, wait }) => after !== undefined || wait === 0, { path: ['wait'], error: 'needs after' });

/** An event. */
export const eventSchema = z
  .strictObject({
    event_id: idOf('event').describe('The `webhook-id` of its deliveries.'),
    type: z.enum(EVENT_TYPES),
    created_at: instant(),
    test: z.literal(true).optional().describe('Only where a test key caused the event.'),
    body: z
      .discriminatedUnion('event', [
        EVENTS['check.completed'].schema,
        EVENTS['check.failed'].schema,
        EVENTS['batch.completed'].schema,
        EVENTS['watch.changed'].schema,
        EVENTS['webhook.test'].schema,
      ])
      .describe('What deliveries of the event send.'),
  })
  .meta({ id: 'Event', description: 'Something that happened, whether there is an endpoint to send it to or not.' });

/** The events after one. */
export const followedSchema = z.strictObject({
  data: z.array(eventSchema),
  last_event_id: idOf('event')
    .nullable()
    .describe('Send it as `after` to continue. Null after `start` while there is no event: send `start` again.'),
});

/** An event. */
export const presentEvent = ({ id, type, createdAt, test, body }: AccountEvent): z.input<typeof eventSchema> => ({
  event_id: publicId('event', id),
  type,
  created_at: createdAt.toISOString(),
  ...(test ? { test } : {}),
  body: JSON.parse(body) as z.input<typeof eventSchema>['body'],
});
