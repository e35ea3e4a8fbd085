import { pageOf } from './lists.js';
import { type Operation, ok } from './operation.js';
import {
  deliveryDetailSchema,
  deliveryListQuery,
  deliverySchema,
  resendBody,
  resentSchema,
  sentSchema,
  webhookSchema,
} from './webhook.js';

const deliveryExample = {
  delivery_id: 'dlv_01kafksw1te0a9v6n3r4t7y1bc',
  event: 'check.completed',
  event_id: 'evt_01kafksw1se0a9v6n3r4t7y1bb',
  status: 'pending',
  attempts: 1,
  created_at: '2026-11-20T10:00:50.120Z',
  next_attempt_at: '2026-11-20T10:01:20.410Z',
  last_attempt: { at: '2026-11-20T10:00:50.131Z', status_code: 503, duration_ms: 279, error: null },
};

const sent = (description: string) => ({
  202: { description, schema: sentSchema, example: { delivery_id: deliveryExample.delivery_id } },
});

/** The operations of the webhook. An API key can read and test it; it is configured in the dashboard. */
export const WEBHOOK_OPERATIONS = {
  getWebhook: {
    method: 'get',
    path: '/v1/webhook',
    dashboard: false,
    tag: 'Webhook',
    summary: 'Get the webhook endpoint',
    success: ok('The endpoint.', webhookSchema, {
      url: 'https://example.com/vat-events',
      secret_prefix: 'whsec_Zm',
      configured_at: '2026-11-20T09:00:00.000Z',
    }),
    errors: ['NOT_FOUND'],
  },
  sendTestEvent: {
    method: 'post',
    path: '/v1/webhook/test',
    tag: 'Webhook',
    summary: 'Send a test event',
    description:
      'Takes no body, or `{}`. Queues a signed `webhook.test` event, which is delivered like any other event.',
    success: sent('The delivery was queued.'),
    errors: ['NO_WEBHOOK', 'TOO_MANY_DELIVERIES'],
  },
  listDeliveries: {
    method: 'get',
    path: '/v1/webhook/deliveries',
    tag: 'Webhook',
    summary: 'List deliveries, newest first',
    query: deliveryListQuery,
    success: pageOf(deliverySchema, [deliveryExample]),
  },
  getDelivery: {
    method: 'get',
    path: '/v1/webhook/deliveries/{id}',
    tag: 'Webhook',
    summary: 'Get a delivery with its body and attempts',
    id: 'delivery',
    success: ok('The delivery.', deliveryDetailSchema, {
      ...deliveryExample,
      body: {
        event: 'check.failed',
        request_id: 'req_01m7w2q8yxe0a9v6n3r4t7y1bb',
        reason: 'UPSTREAM_NO_ANSWER',
        last_error: 'MS_UNAVAILABLE',
      },
      event: 'check.failed',
      attempts_log: [
        {
          attempt: 1,
          at: deliveryExample.last_attempt.at,
          url: 'https://example.com/vat-events',
          status_code: 503,
          duration_ms: 279,
          error: null,
          address: '93.184.215.14',
          timings: { dns_ms: 12, tcp_ms: 21, tls_ms: 44, first_byte_ms: 201, total_ms: 279 },
          answer: 'try again later',
          answer_truncated: false,
        },
      ],
    }),
  },
  resendDeliveries: {
    method: 'post',
    path: '/v1/webhook/deliveries/resend',
    tag: 'Webhook',
    summary: 'Resend the events of many deliveries',
    description:
      'For use after your endpoint was down: with `"status": "failed"`, every event whose delivery failed in the period is delivered once more, to the current endpoint. `from` is inclusive, `to` exclusive; both are about `created_at` of the deliveries, as in the list. An event is left out while one of its deliveries is pending. At most 10 000 deliveries may match.',
    body: resendBody,
    bodyExample: { from: '2026-11-20T08:00:00Z', to: '2026-11-20T12:00:00Z', status: 'failed' },
    idempotent: true,
    success: {
      202: {
        description: 'The new deliveries were queued.',
        schema: resentSchema,
        example: { resend_id: 'rsd_01kafksw1se0a9v6n3r4t7y1bd', matched: 412, queued: 398 },
      },
    },
    errors: ['NO_WEBHOOK', 'RESEND_TOO_LARGE', 'TOO_MANY_DELIVERIES'],
  },
  resendDelivery: {
    method: 'post',
    path: '/v1/webhook/deliveries/{id}/resend',
    tag: 'Webhook',
    summary: 'Resend the event of a delivery',
    description:
      'Takes no body, or `{}`. Creates a delivery of the same event, with the same body and `webhook-id`, to the current endpoint.',
    id: 'delivery',
    success: sent('The new delivery was queued.'),
    errors: ['NO_WEBHOOK', 'TOO_MANY_DELIVERIES'],
  },
} as const satisfies Record<string, Operation>;
