import type { DueDelivery } from '@vat/domain';
import type { Producer } from './create-producer.js';
import { DELIVERY_QUEUES, deliveryQueueOf } from './job-catalogue.js';

const jobOf = ({ id, accountId, attempt, dueAt }: DueDelivery) => ({
  payload: { delivery_id: id, account_id: accountId, attempt },
  dueAt,
});

/** Gives one delivery the job of its next attempt. */
export const enqueueDelivery =
  (producer: Pick<Producer, 'enqueue'>) =>
  (delivery: DueDelivery): Promise<void> =>
    producer.enqueue({ definition: deliveryQueueOf(delivery.attempt), ...jobOf(delivery) });

/**
 * Gives many the jobs that they had lost. They are late already, so they go among the retries, where they hold up nobody
 * who is on time; first attempts to a slow endpoint, which wait there, are left alone.
 */
export const enqueueDeliveries =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (deliveries: DueDelivery[]): Promise<void> =>
    producer.enqueueAll(DELIVERY_QUEUES.retry, deliveries.map(jobOf));
