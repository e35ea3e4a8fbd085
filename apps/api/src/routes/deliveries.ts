import { pageListQuery, presentDelivery, presentDeliveryDetail } from '@vat/contracts';
import type { Resend } from '@vat/db';
import {
  AppError,
  type Delivery,
  type DeliveryDetail,
  type DueDelivery,
  newUuid,
  type OnDemandResult,
  publicId,
  type Reader,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import { readerOf } from '../http/context.js';
import { ownerOf } from '../http/cursor.js';
import { ownedId } from '../http/owned-id.js';
import { parseQuery } from '../http/parse-query.js';
import { readPage } from '../http/read-page.js';
import { refusedDelivery } from './webhook.js';

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
