import { presentResent } from '@vat/contracts';
import {
  findDelivery,
  findIdempotencyKey,
  findWebhook,
  listDeliveries,
  type Resend,
  resendDeliveries,
  resendDelivery,
  sendTestEvent,
  type TestEvent,
} from '@vat/db';
import {
  AppError,
  type DueDelivery,
  MAX_ON_DEMAND_DELIVERIES,
  type NewResend,
  publicId,
  RESEND_LIMITS,
  requestResend,
} from '@vat/domain';
import { enqueueDelivery, enqueueLateDeliveries } from '@vat/queues';
import { errorFields } from '@vat/runtime';
import { type ApiContext, HUNG_AFTER_MS } from './api-context.js';
import { storedAnswer } from './http/route.js';
import { keyedMutex, turnsByKey } from './turns.js';

/** Bulk resends of a process, so that they leave connections to other calls, and those of one account that may wait there. */
const BULK_RESENDS = { running: 2, waiting: 50, waitingOfAccount: 10 };

const tooManyResends = () =>
  new AppError('RATE_LIMITED', { message: 'Too many bulk resends at once.', extra: { retry_after: 1 } });

/** Composes the delivery log, test events and resends. Test events, resends and bulk resends of one account run in turn. */
export const composeWebhooks = ({
  db,
  producer,
  publishChange,
  log,
  now,
}: Pick<ApiContext, 'db' | 'producer' | 'publishChange' | 'log' | 'now'>) => {
  const inTurn = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const bulkInTurn = turnsByKey({
    maxRunning: BULK_RESENDS.running,
    waiting: { max: BULK_RESENDS.waiting, refuse: tooManyResends },
  });
  // Each account is there once, so that one account cannot fill the places of all others.
  const inTurnOfAccount = keyedMutex({ waiting: { most: BULK_RESENDS.waitingOfAccount, refuse: tooManyResends } });
  const sendTest = sendTestEvent(db, MAX_ON_DEMAND_DELIVERIES);
  const resend = resendDelivery(db, MAX_ON_DEMAND_DELIVERIES);
  const resendAll = resendDeliveries(db, RESEND_LIMITS);
  const enqueue = enqueueDelivery(producer);
  const enqueueAll = enqueueLateDeliveries(producer);
  const warn = (error: unknown) =>
    log.warn('A delivery was not enqueued; the sweep will enqueue it.', errorFields(error));
  return {
    findWebhook: findWebhook(db),
    listDeliveries: listDeliveries(db, now),
    findDelivery: findDelivery(db),
    sendTestEvent: (test: TestEvent) => inTurn(test.accountId, () => sendTest(test)),
    resendDelivery: (wanted: Resend) => inTurn(wanted.reader.accountId, () => resend(wanted)),
    resendDeliveries: requestResend({
      findKey: findIdempotencyKey(db),
      resend: (wanted: NewResend) => {
        const { accountId } = wanted.reader;
        return inTurnOfAccount(accountId, () => bulkInTurn(accountId, () => resendAll(wanted)));
      },
      answerOf: (resent) => storedAnswer({ status: 202, body: presentResent(resent) }),
      // Not awaited: ten thousand jobs take seconds, and the rows are written.
      enqueue: (accountId, { id, matched, queued }, deliveries) => {
        log.info('Deliveries were resent.', {
          account_id: publicId('account', accountId),
          resend_id: publicId('resend', id),
          matched,
          queued,
        });
        publishChange(accountId, 'deliveries');
        void enqueueAll(deliveries).catch(warn);
      },
      now,
    }),
    enqueueDelivery: (delivery: DueDelivery): Promise<void> => {
      publishChange(delivery.accountId, 'deliveries', publicId('delivery', delivery.id));
      return enqueue(delivery).catch(warn);
    },
  };
};
