import { pageListQuery, presentDelivery, presentDeliveryDetail } from '@vat/contracts';
import type { Resend } from '@vat/db';
import { AppError, type Delivery, type DeliveryDetail, type DueDelivery, newUuid, publicId } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';
import { ownedId } from '../http/owned-id.js';
import { parseQuery } from '../http/parse-query.js';
import { readPage } from '../http/read-page.js';

export type DeliveryRoutesDeps = {
  listDeliveries: (accountId: string, beforeId: string | null, limit: number) => Promise<Delivery[]>;
  findDelivery: (id: string, accountId: string) => Promise<DeliveryDetail | null>;
  resendDelivery: (resend: Resend) => Promise<'made' | 'not_found' | 'no_webhook'>;
  /** Never rejects: what is not enqueued is found by the sweep. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

/** The routes of /v1/webhook/deliveries: one log an account, for its live and test keys alike. */
export const deliveryRoutes = (deps: DeliveryRoutesDeps) => {
  const list: RequestHandler = async (req, res) => {
    const { accountId } = callerOf(res);
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['deliveries', accountId], (before, most) =>
      deps.listDeliveries(accountId, before, most),
    );
    res.json({ data: rows.map(presentDelivery), next_cursor: nextCursor });
  };

  const show: RequestHandler = async (req, res) => {
    const delivery = await deps.findDelivery(ownedId('delivery', req.params.id), callerOf(res).accountId);
    if (!delivery) throw new AppError('NOT_FOUND');
    res.json(presentDeliveryDetail(delivery));
  };

  const resend: RequestHandler = async (req, res) => {
    const { accountId } = callerOf(res);
    const newDeliveryId = newUuid();
    const now = deps.now();
    const deliveryId = ownedId('delivery', req.params.id);
    const made = await deps.resendDelivery({ deliveryId, accountId, newDeliveryId, now });
    if (made === 'not_found') throw new AppError('NOT_FOUND');
    if (made === 'no_webhook') throw new AppError('NO_WEBHOOK');
    await deps.enqueueDelivery({ id: newDeliveryId, accountId, attempt: 1, dueAt: now });
    res.status(202).json({ delivery_id: publicId('delivery', newDeliveryId) });
  };

  return { list, show, resend };
};
