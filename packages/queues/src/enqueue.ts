import type {
  DispatchedLine,
  DispatchQueue,
  DueDelivery,
  DueStamp,
  MemberState,
  OverdueRequest,
  RequestOrigin,
} from '@vat/domain';
import type { Producer } from './create-producer.js';
import {
  batchesQueue,
  DELIVERY_QUEUES,
  deliveryQueueOf,
  evidenceQueue,
  lookupQueueOf,
  type PriorityClass,
  settleQueue,
  upstreamQueue,
} from './job-catalogue.js';

const deliveryJobOf = ({ id, accountId, attempt, dueAt }: DueDelivery) => ({
  payload: { delivery_id: id, account_id: accountId, attempt },
  dueAt,
});

/** Gives one delivery the job of its next attempt. */
export const enqueueDelivery =
  (producer: Pick<Producer, 'enqueue'>) =>
  (delivery: DueDelivery): Promise<void> =>
    producer.enqueue({ definition: deliveryQueueOf(delivery.attempt), ...deliveryJobOf(delivery) });

/**
 * Gives many the jobs that they had lost. They are late already, so they go among the retries, where they hold up nobody
 * who is on time. First attempts that still wait in their own lane are left alone: late is not lost.
 */
export const enqueueDeliveries =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  async (deliveries: DueDelivery[]): Promise<void> => {
    const jobs = deliveries.map((delivery) => {
      const job = deliveryJobOf(delivery);
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

/** Feeds that are not due yet share a job with those that are due at nearly the same time: one line more or less a second. */
const TOGETHER_MS = 1_000;
/** From here on they share it with those of ten seconds. */
const FAR_MS = 60_000;

/** Due times that are told apart: what waits longer may be a little later. Never before the due time. */
const sharedMoment = (dueAt: Date, now: number): number => {
  const apart = dueAt.getTime() - now < FAR_MS ? TOGETHER_MS : 10 * TOGETHER_MS;
  return Math.ceil(dueAt.getTime() / apart) * apart;
};

/**
 * Has lanes of waiting lines fed, now or at `dueAt`. Each call of this moment is a job of its own, since one that already
 * runs may have looked before there was anything to see.
 */
export const enqueueDispatches =
  (producer: Pick<Producer, 'enqueue'>) =>
  async (lanes: readonly DispatchQueue[], dueAt?: Date): Promise<void> => {
    const now = Date.now();
    const at = dueAt === undefined || dueAt.getTime() <= now ? now : sharedMoment(dueAt, now);
    await Promise.all(
      lanes.map((lane) =>
        producer.enqueue({
          definition: batchesQueue,
          payload: { lane, at },
          ...(at > now ? { dueAt: new Date(at) } : {}),
        }),
      ),
    );
  };

/** Gives lines that were fed their jobs: after everything interactive and in the background, low ranks first. */
export const enqueueLines =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (memberState: MemberState, lines: readonly DispatchedLine[]): Promise<void> =>
    producer.enqueueAll(
      upstreamQueue(memberState),
      lines.map(({ id, rank }) => ({ payload: { request_id: id }, priority: 'batch' as const, rank })),
    );

/** The class of a live request's ask: a caller who waits goes before everybody, a watch after everybody. */
export const priorityClassOf = ({ origin, pending }: { origin: RequestOrigin; pending: boolean }): PriorityClass => {
  if (origin !== 'direct') return origin;
  return pending ? 'background' : 'interactive';
};

/** Gives requests the jobs they should have: an ask at their due time, or the recording of their answer now. */
export const enqueueOverdue =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  async (requests: OverdueRequest[]): Promise<void> => {
    const byQueue = new Map<string, OverdueRequest[]>();
    for (const request of requests) {
      const { name } = request.answered ? settleQueue : lookupQueueOf(request);
      byQueue.set(name, [...(byQueue.get(name) ?? []), request]);
    }
    for (const group of byQueue.values()) {
      const [first] = group;
      if (!first) continue;
      await producer.enqueueAll(
        first.answered ? settleQueue : lookupQueueOf(first),
        group.map((request) => ({
          payload: { request_id: request.id },
          priority: priorityClassOf(request),
          dueAt: request.dueAt,
        })),
      );
    }
  };

const stampJobOf = ({ subjectId, dueAt }: DueStamp) => ({
  payload: { task: 'stamp' as const, subject_id: subjectId },
  dueAt,
});

/** Gives one pending time-stamp the job of its next try. */
export const enqueueStamp =
  (producer: Pick<Producer, 'enqueue'>) =>
  (stamp: DueStamp): Promise<void> =>
    producer.enqueue({ definition: evidenceQueue, ...stampJobOf(stamp) });

/** The same for many. */
export const enqueueStamps =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (stamps: DueStamp[]): Promise<void> =>
    producer.enqueueAll(evidenceQueue, stamps.map(stampJobOf));
