import { type Delivery, type DeliveryDetail, publicId, type WebhookConfiguration } from '@vat/domain';

/** GET /v1/webhook. */
export const presentWebhook = ({ url, secretPrefix, configuredAt }: WebhookConfiguration) => ({
  url,
  secret_prefix: secretPrefix,
  configured_at: configuredAt.toISOString(),
});

/** An entry of the delivery log. Source: contract part 2 §8. */
export const presentDelivery = (delivery: Delivery) => ({
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

/** The same with its body and the log of its attempts. An answer that is no UTF-8 is shown as far as it can be. */
export const presentDeliveryDetail = (delivery: DeliveryDetail) => ({
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
