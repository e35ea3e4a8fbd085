import { presentWebhook } from '@vat/contracts';
import type { TestEvent } from '@vat/db';
import { AppError, type DueDelivery, newUuid, publicId, type WebhookConfiguration, webhookTestBody } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';

export type WebhookRoutesDeps = {
  findWebhook: (accountId: string) => Promise<WebhookConfiguration | null>;
  /** False, and nothing was written, when there is no endpoint. */
  sendTestEvent: (test: TestEvent) => Promise<boolean>;
  /** Never rejects: what is not enqueued is found by the sweep. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
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
    if (!sent) throw new AppError('NO_WEBHOOK');
    await deps.enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: now });
    res.status(202).json({ delivery_id: publicId('delivery', deliveryId) });
  };

  return { show, test };
};
