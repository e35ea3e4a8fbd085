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
 * who is on time. First attempts that still wait in their own lane are left alone: late is not lost.
 */
export const enqueueDeliveries =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  async (deliveries: DueDelivery[]): Promise<void> => {
    const jobs = deliveries.map((delivery) => {
      const job = jobOf(delivery);
      return { ...job, first: delivery.attempt === 1, jobId: DELIVERY_QUEUES.first.jobId(job.payload) };
    });
    const firsts = jobs.filter(({ first }) => first).map(({ jobId }) => jobId);
    // In this order: a first attempt changes lanes by being added to the retries before it leaves its own lane.
    const waiting = await producer.present(DELIVERY_QUEUES.first, firsts);
    const lost = jobs.filter(({ jobId }) => !waiting.has(jobId));
    await producer.enqueueAll(
      DELIVERY_QUEUES.retry,
      lost.map(({ payload, dueAt }) => ({ payload, dueAt })),
    );
  };
