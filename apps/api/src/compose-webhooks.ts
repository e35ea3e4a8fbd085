import {
  findDelivery,
  findWebhook,
  listDeliveries,
  type Resend,
  resendDelivery,
  sendTestEvent,
  type TestEvent,
} from '@vat/db';
import { type DueDelivery, MAX_ON_DEMAND_DELIVERIES, publicId } from '@vat/domain';
import { enqueueDelivery } from '@vat/queues';
import { errorFields } from '@vat/runtime';
import { type ApiContext, HUNG_AFTER_MS } from './api-context.js';
import { keyedMutex } from './turns.js';

/** Composes the delivery log, test events and resends. Test events and resends of one account run in turn. */
export const composeWebhooks = ({
  db,
  producer,
  publishChange,
  log,
}: Pick<ApiContext, 'db' | 'producer' | 'publishChange' | 'log'>) => {
  const inTurn = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const sendTest = sendTestEvent(db, MAX_ON_DEMAND_DELIVERIES);
  const resend = resendDelivery(db, MAX_ON_DEMAND_DELIVERIES);
  const enqueue = enqueueDelivery(producer);
  return {
    findWebhook: findWebhook(db),
    listDeliveries: listDeliveries(db),
    findDelivery: findDelivery(db),
    sendTestEvent: (test: TestEvent) => inTurn(test.accountId, () => sendTest(test)),
    resendDelivery: (wanted: Resend) => inTurn(wanted.reader.accountId, () => resend(wanted)),
    enqueueDelivery: (delivery: DueDelivery): Promise<void> => {
      publishChange(delivery.accountId, 'deliveries', publicId('delivery', delivery.id));
      return enqueue(delivery).catch((error: unknown) =>
        log.warn('A delivery was not enqueued; the sweep will enqueue it.', errorFields(error)),
      );
    },
  };
};
