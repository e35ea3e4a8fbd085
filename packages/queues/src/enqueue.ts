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

/** Enqueues the next attempt of one delivery. */
export const enqueueDelivery =
  (producer: Pick<Producer, 'enqueue'>) =>
  (delivery: DueDelivery): Promise<void> =>
    producer.enqueue({ definition: deliveryQueueOf(delivery.attempt), ...deliveryJobOf(delivery) });

/**
 * Enqueues deliveries whose jobs were lost. They are late already, so they go to the retry queue, where they do not delay
 * deliveries that are on time. First attempts that still have a job in the first queue are left there.
 */
export const enqueueDeliveries =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  async (deliveries: DueDelivery[]): Promise<void> => {
    const jobs = deliveries.map((delivery) => {
      const job = deliveryJobOf(delivery);
      return { ...job, first: delivery.attempt === 1, jobId: DELIVERY_QUEUES.first.jobId(job.payload) };
    });
    const firsts = jobs.filter(({ first }) => first).map(({ jobId }) => jobId);
    // The order matters: a first attempt that moves to the retry queue is added there before it leaves the first queue.
    const waiting = await producer.present(DELIVERY_QUEUES.first, firsts);
    const lost = jobs.filter(({ jobId }) => !waiting.has(jobId));
    await producer.enqueueAll(
      DELIVERY_QUEUES.retry,
      lost.map(({ payload, dueAt }) => ({ payload, dueAt })),
    );
  };

/** Dispatches that are due later share one job per second, and one per ten seconds from `FAR_MS` ahead. */
const COALESCE_MS = 1_000;
const FAR_MS = 60_000;

/** Rounds a due time up to that of the job it shares; never before the due time. */
const roundUpDueTime = (dueAt: Date, now: number): number => {
  const stepMs = dueAt.getTime() - now < FAR_MS ? COALESCE_MS : 10 * COALESCE_MS;
  return Math.ceil(dueAt.getTime() / stepMs) * stepMs;
};

/**
 * Enqueues the dispatch of waiting lines for some dispatch queues, now or at `dueAt`. Each immediate call adds a job of its
 * own, since a job that is already running may have read the rows before the new lines were there.
 */
export const enqueueDispatches =
  (producer: Pick<Producer, 'enqueue'>, now: () => Date = () => new Date()) =>
  async (dispatchQueues: readonly DispatchQueue[], dueAt?: Date): Promise<void> => {
    const current = now().getTime();
    const at = dueAt === undefined || dueAt.getTime() <= current ? current : roundUpDueTime(dueAt, current);
    await Promise.all(
      dispatchQueues.map((lane) =>
        producer.enqueue({
          definition: batchesQueue,
          payload: { lane, at },
          ...(at > current ? { dueAt: new Date(at) } : {}),
        }),
      ),
    );
  };

/** Enqueues dispatched lines, behind interactive and background requests, lowest rank first. */
export const enqueueLines =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (memberState: MemberState, lines: readonly DispatchedLine[]): Promise<void> =>
    producer.enqueueAll(
      upstreamQueue(memberState),
      lines.map(({ id, rank }) => ({ payload: { request_id: id }, priority: 'batch' as const, rank })),
    );

/** The priority class of a live request: requests with a waiting caller run first, watches last. */
export const priorityClassOf = ({ origin, pending }: { origin: RequestOrigin; pending: boolean }): PriorityClass => {
  if (origin !== 'direct') return origin;
  return pending ? 'background' : 'interactive';
};

/** Enqueues requests whose job is missing: a lookup at its due time, or the settlement of an answered request now. */
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

/** Enqueues the next attempt to obtain one pending time-stamp. */
export const enqueueStamp =
  (producer: Pick<Producer, 'enqueue'>) =>
  (stamp: DueStamp): Promise<void> =>
    producer.enqueue({ definition: evidenceQueue, ...stampJobOf(stamp) });

/** Enqueues the next attempts to obtain pending time-stamps. */
export const enqueueStamps =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (stamps: DueStamp[]): Promise<void> =>
    producer.enqueueAll(evidenceQueue, stamps.map(stampJobOf));
