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
  type QueueDefinition,
  type RequestJob,
  settleQueue,
  upstreamQueue,
} from './job-catalogue.js';
import { turnOf } from './turns.js';

const deliveryJobOf = ({ id, accountId, attempt, dueAt }: DueDelivery) => ({
  payload: { delivery_id: id, account_id: accountId, attempt },
  dueAt,
});

/** Enqueues those of the jobs whose id has none in the queue; returns how many. */
const enqueueMissing = async <P>(
  producer: Pick<Producer, 'enqueueAll' | 'present'>,
  definition: QueueDefinition<P>,
  jobs: readonly { payload: P; priority?: PriorityClass; dueAt: Date }[],
): Promise<number> => {
  const present = await producer.present(
    definition,
    jobs.map(({ payload }) => definition.jobId(payload)),
  );
  const lost = jobs.filter(({ payload }) => !present.has(definition.jobId(payload)));
  await producer.enqueueAll(
    definition,
    lost.map(({ payload, priority, dueAt }) => ({ payload, dueAt, ...(priority === undefined ? {} : { priority }) })),
  );
  return lost.length;
};

/** Enqueues the next attempt of one delivery. */
export const enqueueDelivery =
  (producer: Pick<Producer, 'enqueue'>) =>
  (delivery: DueDelivery): Promise<void> =>
    producer.enqueue({ definition: deliveryQueueOf(delivery.attempt), ...deliveryJobOf(delivery) });

/**
 * Enqueues those of the deliveries that have no job; returns how many. They are late already, so they go to the retry queue,
 * where they do not delay deliveries that are on time.
 */
const enqueueLostDeliveries =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  async (deliveries: DueDelivery[]): Promise<number> => {
    const jobs = deliveries.map((delivery) => {
      const job = deliveryJobOf(delivery);
      return { ...job, first: delivery.attempt === 1, jobId: DELIVERY_QUEUES.first.jobId(job.payload) };
    });
    const firsts = jobs.filter(({ first }) => first).map(({ jobId }) => jobId);
    // The order matters: a first attempt that moves to the retry queue is added there before it leaves the first queue.
    const waiting = await producer.present(DELIVERY_QUEUES.first, firsts);
    const others = jobs.filter(({ jobId }) => !waiting.has(jobId));
    return enqueueMissing(producer, DELIVERY_QUEUES.retry, others);
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
  (producer: Pick<Producer, 'enqueue'>) =>
  async (dispatchQueues: readonly DispatchQueue[], dueAt?: Date): Promise<void> => {
    const now = Date.now();
    const at = dueAt === undefined || dueAt.getTime() <= now ? now : roundUpDueTime(dueAt, now);
    await Promise.all(
      dispatchQueues.map((lane) =>
        producer.enqueue({
          definition: batchesQueue,
          payload: { lane, at },
          ...(at > now ? { dueAt: new Date(at) } : {}),
        }),
      ),
    );
  };

/** Enqueues dispatched lines in the order of their ranks. */
export const enqueueLines =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (memberState: MemberState, lines: readonly DispatchedLine[]): Promise<void> =>
    producer.enqueueAll(
      upstreamQueue(memberState),
      lines.map(({ id, accountId }) => ({ payload: { request_id: id, turn: turnOf(accountId, 'batch') } })),
    );

/** The priority class of a live request: requests with a waiting caller run first, watches last. */
export const priorityClassOf = ({ origin, pending }: { origin: RequestOrigin; pending: boolean }): PriorityClass => {
  if (origin !== 'direct') return origin;
  return pending ? 'background' : 'interactive';
};

/** The job of a live request: a lookup at its due time, or the settlement of its answer now. */
const jobsByQueue = (requests: readonly OverdueRequest[]) => {
  const queues = new Map<string, { definition: QueueDefinition<RequestJob>; jobs: JobOfRequest[] }>();
  for (const request of requests) {
    const definition: QueueDefinition<RequestJob> = request.answered ? settleQueue : lookupQueueOf(request);
    const queue = queues.get(definition.name) ?? { definition, jobs: [] as JobOfRequest[] };
    const priority = priorityClassOf(request);
    queue.jobs.push({
      payload: { request_id: request.id, turn: turnOf(request.accountId, priority) },
      priority,
      dueAt: request.dueAt,
    });
    queues.set(definition.name, queue);
  }
  return [...queues.values()];
};
type JobOfRequest = { payload: RequestJob; priority: PriorityClass; dueAt: Date };

/** Enqueues new requests: a lookup at its due time, or the settlement of an answered request now. */
export const enqueueOverdue =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  async (requests: OverdueRequest[]): Promise<void> => {
    await Promise.all(jobsByQueue(requests).map(({ definition, jobs }) => producer.enqueueAll(definition, jobs)));
  };

/** Enqueues those of the requests that have no job; returns how many. */
const enqueueLostRequests =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  async (requests: OverdueRequest[]): Promise<number> => {
    const lost = jobsByQueue(requests).map(({ definition, jobs }) => enqueueMissing(producer, definition, jobs));
    return (await Promise.all(lost)).reduce((sum, n) => sum + n, 0);
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

/** Enqueues the next attempts at those of the pending time-stamps that have no job; returns how many. */
const enqueueLostStamps =
  (producer: Pick<Producer, 'enqueueAll' | 'present'>) =>
  (stamps: DueStamp[]): Promise<number> =>
    enqueueMissing(producer, evidenceQueue, stamps.map(stampJobOf));

/** For sweeps: enqueues those of some rows that have no job; each returns how many. */
export const enqueueLost = (producer: Pick<Producer, 'enqueueAll' | 'present'>) => ({
  requests: enqueueLostRequests(producer),
  deliveries: enqueueLostDeliveries(producer),
  stamps: enqueueLostStamps(producer),
});
