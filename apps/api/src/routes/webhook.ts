import { pageListQuery, presentDelivery, presentDeliveryDetail, presentWebhook } from '@vat/contracts';
import type { Resend, TestEvent } from '@vat/db';
import {
  AppError,
  type Delivery,
  type DeliveryDetail,
  type DueDelivery,
  newUuid,
  ON_DEMAND_RETRY_AFTER_S,
  type OnDemandResult,
  publicId,
  type Reader,
  type WebhookConfiguration,
  webhookTestBody,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf, ownedId, readerOf } from '../http/call.js';
import { ownerOf, parseQuery, readPage } from '../http/parse.js';

export type WebhookRoutesDeps = {
  findWebhook: (accountId: string) => Promise<WebhookConfiguration | null>;
  sendTestEvent: (test: TestEvent) => Promise<OnDemandResult>;
  /** Never rejects: what is not enqueued is found by the sweep. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

/** Why a test event or a resend was not made, as its caller is told. */
const refusedDelivery = (refusal: Exclude<OnDemandResult, { kind: 'made' }>): AppError => {
  if (refusal.kind === 'not_found') return new AppError('NOT_FOUND');
  if (refusal.kind === 'no_webhook') return new AppError('NO_WEBHOOK');
  const { pending } = refusal;
  return new AppError('TOO_MANY_DELIVERIES', { extra: { retry_after: ON_DEMAND_RETRY_AFTER_S, pending } });
};

/** The routes of /v1/webhook. Configuring is the dashboard's alone (contract part 1 §4). */
export const webhookRoutes = (deps: WebhookRoutesDeps) => {
  const show: RequestHandler = async (_req, res) => {
    const webhook = await deps.findWebhook(callerOf(res).accountId);
    if (!webhook) throw new AppError('NOT_FOUND', { message: 'No webhook is configured.' });
    res.json(presentWebhook(webhook));
  };

  const test: RequestHandler = async (_req, res) => {
    const caller = callerOf(res);
    const now = deps.now();
    const event = { id: newUuid(), type: 'webhook.test' as const, body: webhookTestBody(now) };
    const deliveryId = newUuid();
    const { accountId } = caller;
    const sent = await deps.sendTestEvent({ accountId, test: caller.test, event, deliveryId, now });
    if (sent.kind !== 'made') throw refusedDelivery(sent);
    await deps.enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: now });
    res.status(202).json({ delivery_id: publicId('delivery', deliveryId) });
  };

  return { show, test };
};

export type DeliveryRoutesDeps = {
  listDeliveries: (reader: Reader, beforeId: string | null, limit: number) => Promise<Delivery[]>;
  findDelivery: (id: string, reader: Reader) => Promise<DeliveryDetail | null>;
  resendDelivery: (resend: Resend) => Promise<OnDemandResult>;
  /** Never rejects: what is not enqueued is found by the sweep. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

/** The routes of /v1/webhook/deliveries: one log an account, of which a test key reads the deliveries of test events. */
export const deliveryRoutes = (deps: DeliveryRoutesDeps) => {
  const list: RequestHandler = async (req, res) => {
    const reader = readerOf(res);
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['deliveries', ownerOf(reader)], (before, most) =>
      deps.listDeliveries(reader, before, most),
    );
    res.json({ data: rows.map(presentDelivery), next_cursor: nextCursor });
  };

  const show: RequestHandler = async (req, res) => {
    const delivery = await deps.findDelivery(ownedId('delivery', req.params.id), readerOf(res));
    if (!delivery) throw new AppError('NOT_FOUND');
    res.json(presentDeliveryDetail(delivery));
  };

  const resend: RequestHandler = async (req, res) => {
    const reader = readerOf(res);
    const newDeliveryId = newUuid();
    const now = deps.now();
    const deliveryId = ownedId('delivery', req.params.id);
    const resent = await deps.resendDelivery({ deliveryId, reader, newDeliveryId, now });
    if (resent.kind !== 'made') throw refusedDelivery(resent);
    await deps.enqueueDelivery({ id: newDeliveryId, accountId: reader.accountId, attempt: 1, dueAt: now });
    res.status(202).json({ delivery_id: publicId('delivery', newDeliveryId) });
  };

  return { list, show, resend };
};
