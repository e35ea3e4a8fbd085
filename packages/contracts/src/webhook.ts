import {
  DELIVERY_STATES,
  type Delivery,
  type DeliveryDetail,
  ENDED_STATES,
  EVENT_TYPES,
  publicId,
  type Resent,
  type WebhookConfiguration,
} from '@vat/domain';
import { z } from 'zod';
import { pageQuery, periodFilters, wholePeriod } from './lists.js';
import { count, idOf, instant } from './text.js';

/** GET /v1/webhook. */
export const webhookSchema = z
  .strictObject({
    url: z.string().describe('The URL as you entered it.'),
    secret_prefix: z
      .string()
      .length(8)
      .describe('The first 8 characters of the secret. The whole secret is shown only once.'),
    configured_at: instant(),
  })
  .meta({ id: 'Webhook', description: "The account's endpoint." });

/** Query of GET /v1/webhook/deliveries. `from` and `to` are about `created_at`. */
export const deliveryListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(DELIVERY_STATES).optional(),
  event: z.enum(EVENT_TYPES).optional(),
  ...periodFilters,
});

/** Body of POST /v1/webhook/deliveries/resend. */
export const resendBody = z
  .strictObject({
    ...wholePeriod,
    status: z
      .enum(ENDED_STATES)
      .optional()
      .describe(
        'Only deliveries of this status; both without it. With `failed`, events whose last delivery was successful are left out.',
      ),
    event: z.enum(EVENT_TYPES).optional().describe('Only deliveries of this event.'),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be later than from' });

/** POST /v1/webhook/deliveries/resend. */
export const resentSchema = z.strictObject({
  resend_id: idOf('resend'),
  matched: count('The deliveries that match.'),
  queued: count(
    'The new deliveries: one for each event, except events with a pending delivery and, with `failed`, those that were delivered later.',
  ),
});

/** The response to a test event and to a resend. */
export const sentSchema = z.strictObject({ delivery_id: idOf('delivery') });

const statusCode = () =>
  z.int().min(100).max(999).nullable().describe('The status of the response. Null when no response arrived.');
const attemptError = () =>
  z.string().nullable().describe('`CLASS: sentence`. Null when a complete response arrived, whatever its status.');

const entry = {
  delivery_id: idOf('delivery'),
  event: z.enum(EVENT_TYPES),
  event_id: idOf('event'),
  status: z.enum(DELIVERY_STATES),
  attempts: z.int().min(0).describe('The number of attempts made.'),
  created_at: instant(),
  next_attempt_at: instant().nullable(),
  last_attempt: z
    .strictObject({
      at: instant(),
      status_code: statusCode(),
      duration_ms: z.int().min(0),
      error: attemptError().describe('`WEBHOOK_REMOVED` when the endpoint was removed before the delivery ended.'),
    })
    .nullable(),
};

/** An entry of the delivery log. */
export const deliverySchema = z
  .strictObject(entry)
  .meta({ id: 'Delivery', description: 'The delivery of one event to your endpoint.' });

const phase = () => z.int().min(0).nullable();

/** One attempt in the log of a delivery. */
export const attemptSchema = z
  .strictObject({
    attempt: z.int().min(1),
    at: instant(),
    url: z.string().describe('The URL that was called.'),
    status_code: statusCode(),
    duration_ms: z.int().min(0),
    error: attemptError(),
    address: z
      .string()
      .nullable()
      .describe('The IP address of the connection, or the first one that was tried. Null when there was none.'),
    timings: z
      .strictObject({
        dns_ms: phase(),
        tcp_ms: phase(),
        tls_ms: phase(),
        first_byte_ms: phase(),
        total_ms: z.int().min(0),
      })
      .describe('Milliseconds. Null where a phase did not take place, as on a reused connection.'),
    answer: z.string().describe('The first 2 KiB of the response body, read as UTF-8.'),
    answer_truncated: z.boolean(),
  })
  .meta({ id: 'DeliveryAttempt', description: 'One attempt of a delivery.' });

/** GET /v1/webhook/deliveries/{id}. */
export const deliveryDetailSchema = z
  .strictObject({
    ...entry,
    body: z
      .record(z.string(), z.unknown())
      .describe('The body of the event, with its keys in the order in which they are sent.'),
    attempts_log: z.array(attemptSchema).describe('The attempts, oldest first.'),
  })
  .meta({ id: 'DeliveryDetail', description: 'A delivery with its body and its attempts.' });

/** GET /v1/webhook. */
export const presentWebhook = (webhook: WebhookConfiguration): z.input<typeof webhookSchema> => ({
  url: webhook.url,
  secret_prefix: webhook.secretPrefix,
  configured_at: webhook.configuredAt.toISOString(),
});

/** POST /v1/webhook/deliveries/resend. */
export const presentResent = ({ id, matched, queued }: Resent): z.input<typeof resentSchema> => ({
  resend_id: publicId('resend', id),
  matched,
  queued,
});

/** An entry of the delivery log. */
export const presentDelivery = (delivery: Delivery): z.input<typeof deliverySchema> => ({
  delivery_id: publicId('delivery', delivery.id),
  event: delivery.eventType,
  event_id: publicId('event', delivery.eventId),
  status: delivery.state,
  attempts: delivery.attempts,
  created_at: delivery.createdAt.toISOString(),
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  last_attempt: delivery.last && {
    at: delivery.last.at.toISOString(),
    status_code: delivery.last.statusCode,
    duration_ms: delivery.last.durationMs,
    error: delivery.last.error,
  },
});

/** A delivery with its body and its attempts. Bytes of a response that are not UTF-8 are replaced. */
export const presentDeliveryDetail = (delivery: DeliveryDetail): z.input<typeof deliveryDetailSchema> => ({
  ...presentDelivery(delivery),
  body: JSON.parse(delivery.body) as Record<string, unknown>,
  attempts_log: delivery.log.map((attempt) => ({
    attempt: attempt.number,
    at: attempt.at.toISOString(),
    url: attempt.url,
    status_code: attempt.statusCode,
    duration_ms: attempt.durationMs,
    error: attempt.error,
    address: attempt.address,
    timings: attempt.timings,
    answer: Buffer.from(attempt.answer).toString('utf8'),
    answer_truncated: attempt.answerTruncated,
  })),
});

/** Body of PUT /app/api/webhook. The URL is validated later, since an invalid one has its own error code. */
export const saveWebhookBody = z.strictObject({ url: z.string() });
