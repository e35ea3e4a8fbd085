import { presentDelivery, presentDeliveryDetail, presentWebhook, type WEBHOOK_OPERATIONS } from '@vat/contracts';
import type { Resend, TestEvent } from '@vat/db';
import {
  AppError,
  type Delivery,
  type DeliveryDetail,
  type DeliveryFilter,
  type DueDelivery,
  newUuidAt,
  ON_DEMAND_RETRY_AFTER_S,
  type OnDemandResult,
  publicId,
  type Reader,
  type ResendCall,
  type StoredAnswer,
  type StoredId,
  type WebhookConfiguration,
  webhookTestBody,
} from '@vat/domain';
import { found } from '../http/call.js';
import { ownerOf, replyWithPage } from '../http/parse.js';
import type { ResponseTo, Routes } from '../http/route.js';

export type WebhookRoutesDeps = {
  findWebhook: (accountId: string) => Promise<WebhookConfiguration | null>;
  sendTestEvent: (test: TestEvent) => Promise<OnDemandResult>;
  listDeliveries: (
    reader: Reader,
    filter: DeliveryFilter,
    beforeId: string | null,
    limit: number,
  ) => Promise<Delivery[]>;
  findDelivery: (id: StoredId<'delivery'>, reader: Reader) => Promise<DeliveryDetail | null>;
  resendDelivery: (resend: Resend) => Promise<OnDemandResult>;
  resendDeliveries: (call: ResendCall) => Promise<{ answer: StoredAnswer; replayed: boolean }>;
  /** Never rejects: the sweep finds what is not enqueued. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

/** The routes of /v1/webhook. The endpoint is configured in the dashboard only. A test key reads deliveries of test events. */
export const webhookRoutes = (deps: WebhookRoutesDeps): Pick<Routes, keyof typeof WEBHOOK_OPERATIONS> => {
  /** Enqueues a delivery that was made. Throws the error of one that was not. */
  const enqueue = async (
    result: OnDemandResult,
    delivery: Pick<DueDelivery, 'id' | 'accountId' | 'dueAt'>,
  ): Promise<ResponseTo<'sendTestEvent'>> => {
    if (result.kind === 'not_found') throw new AppError('NOT_FOUND');
    if (result.kind === 'no_webhook') throw new AppError('NO_WEBHOOK');
    if (result.kind !== 'made') {
      const extra = { retry_after: ON_DEMAND_RETRY_AFTER_S, pending: result.pending };
      throw new AppError('TOO_MANY_DELIVERIES', { extra });
    }
    await deps.enqueueDelivery({ ...delivery, attempt: 1 });
    return { status: 202, body: { delivery_id: publicId('delivery', delivery.id) } };
  };

  return {
    getWebhook: async ({ caller }) => {
      const webhook = await deps.findWebhook(caller.accountId);
      if (!webhook) throw new AppError('NOT_FOUND', { message: 'No webhook is configured.' });
      return { status: 200, body: presentWebhook(webhook) };
    },

    sendTestEvent: async ({ caller: { accountId, test } }) => {
      const now = deps.now();
      const event = { id: newUuidAt(now), type: 'webhook.test' as const, body: webhookTestBody(now) };
      const deliveryId = newUuidAt(now);
      const sent = await deps.sendTestEvent({ accountId, test, event, deliveryId, now });
      return enqueue(sent, { id: deliveryId, accountId, dueAt: now });
    },

    listDeliveries: ({ reader, query: { limit, cursor, ...filter } }) => {
      const find = (before: string | null, most: number) => deps.listDeliveries(reader, filter, before, most);
      // Without filters it is the list of earlier releases, whose cursors are accepted.
      const filters = Object.keys(filter).length === 0 ? [] : [filter];
      return replyWithPage({ limit, cursor }, ['deliveries', ownerOf(reader), ...filters], find, presentDelivery);
    },

    getDelivery: async ({ id, reader }) => {
      const delivery = found(await deps.findDelivery(id, reader));
      return { status: 200, body: presentDeliveryDetail(delivery) };
    },

    resendDeliveries: ({ reader, body, idempotencyOf }) => {
      const content = { ...body, from: body.from.toISOString(), to: body.to.toISOString() };
      return deps.resendDeliveries({ reader, filter: body, idempotency: idempotencyOf(content) });
    },

    resendDelivery: async ({ id: deliveryId, reader }) => {
      const now = deps.now();
      const newDeliveryId = newUuidAt(now);
      const resent = await deps.resendDelivery({ deliveryId, reader, newDeliveryId, now });
      return enqueue(resent, { id: newDeliveryId, accountId: reader.accountId, dueAt: now });
    },
  };
};
