import type {
  DispatchedLine,
  DispatchQueue,
  DueDelivery,
  DueStamp,
  MemberState,
  OverdueDeliveries,
  OverdueGroup,
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
  mailQueue,
  type PriorityClass,
  type QueueDefinition,
  settleQueue,
  upstreamQueue,
} from './job-catalogue.js';
import { turnOf } from './turns.js';

/** Enqueues those of the jobs that are missing, and returns how many. `overdue`: all of them are, see {@link Producer}. */
const enqueueLost = async <P>(
  producer: Pick<Producer, 'enqueueAll' | 'withoutJob'>,
  definition: QueueDefinition<P>,
  jobs: readonly { payload: P; dueAt?: Date }[],
  of: { overdue: boolean },
): Promise<number> => {
  const idOf = ({ payload }: { payload: P }) => definition.jobId(payload);
  const lost = new Set(await producer.withoutJob(definition, jobs.map(idOf), of));
  await producer.enqueueAll(
    definition,
    jobs.filter((job) => lost.has(idOf(job))),
  );
  return lost.size;
};

const deliveryJobOf = ({ id, accountId, attempt, dueAt, traceparent }: DueDelivery) => ({
  payload: { delivery_id: id, account_id: accountId, attempt, traceparent },
  dueAt,
});

/** Enqueues the next attempt of one delivery. */
export const enqueueDelivery =
  (producer: Pick<Producer, 'enqueue'>) =>
  (delivery: DueDelivery): Promise<void> =>
    producer.enqueue({ definition: deliveryQueueOf(delivery.attempt), ...deliveryJobOf(delivery) });

/**
 * Enqueues deliveries that are late already, or that were resent together: in the retry queue, where they do not delay first
 * attempts.
 */
export const enqueueLateDeliveries =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (deliveries: DueDelivery[]): Promise<void> =>
    producer.enqueueAll(DELIVERY_QUEUES.retry, deliveries.map(deliveryJobOf));

/** Returns the ids of those deliveries whose next attempt has no job. `everything`: not all of them are overdue. */
export const deliveriesWithoutJob =
  (producer: Pick<Producer, 'withoutJob'>) =>
  async (deliveries: OverdueDeliveries['toSend'], { everything }: { everything: boolean }): Promise<string[]> => {
    const of = { overdue: !everything };
    const jobs = deliveries.map(({ id, attempt }) => ({
      id,
      attempt,
      jobId: DELIVERY_QUEUES.first.jobId({ delivery_id: id, account_id: '', attempt }),
    }));
    // The order matters: a first attempt that moves to the retry queue is added there before it leaves the first queue.
    const firsts = jobs.filter(({ attempt }) => attempt === 1).map(({ jobId }) => jobId);
    const others = jobs.filter(({ attempt }) => attempt > 1).map(({ jobId }) => jobId);
    const moved = await producer.withoutJob(DELIVERY_QUEUES.first, firsts, of);
    const lost = new Set(await producer.withoutJob(DELIVERY_QUEUES.retry, [...moved, ...others], of));
    return jobs.filter(({ jobId }) => lost.has(jobId)).map(({ id }) => id);
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

/** Of all sweeps; no other dispatch has it. */
const SWEPT_AT = 0;

/**
 * Enqueues the dispatches that a sweep finds missing. The jobs of all sweeps have one id for each dispatch queue: while no worker
 * serves `batches` each sweep finds the same ones, and a job for each of them would fill Redis within days. What a running job
 * has not read is found by the next sweep.
 */
export const enqueueSweptDispatches =
  (producer: Pick<Producer, 'enqueueAll' | 'withoutJob'>) =>
  async (dispatchQueues: readonly DispatchQueue[]): Promise<void> => {
    const jobs = dispatchQueues.map((lane) => ({ payload: { lane, at: SWEPT_AT } }));
    await enqueueLost(producer, batchesQueue, jobs, { overdue: true });
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

/** The queue of a live request's job. */
const queueOf = (request: OverdueGroup | OverdueRequest) => (request.answered ? settleQueue : lookupQueueOf(request));

/** Enqueues requests: a lookup at its due time, or the settlement of an answered request now. */
export const enqueueOverdue =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  async (requests: OverdueRequest[]): Promise<void> => {
    const queues = new Map(requests.map((request) => [queueOf(request).name, queueOf(request)]));
    const jobsOf = (queue: string) =>
      requests
        .filter((request) => queueOf(request).name === queue)
        .map((request) => {
          const priority = priorityClassOf(request);
          const payload = { request_id: request.id, turn: turnOf(request.accountId, priority) };
          return { payload, priority, dueAt: request.dueAt };
        });
    await Promise.all([...queues].map(([name, definition]) => producer.enqueueAll(definition, jobsOf(name))));
  };

/** Returns the ids of those requests that have no job. `everything`: not all of them are overdue. */
export const requestsWithoutJob =
  (producer: Pick<Producer, 'withoutJob'>) =>
  async (groups: OverdueGroup[], { everything }: { everything: boolean }): Promise<string[]> => {
    // The id of a request's job is that of the request.
    const without = await Promise.all(
      groups.map((group) => producer.withoutJob(queueOf(group), group.ids, { overdue: !everything })),
    );
    return without.flat();
  };

/** Enqueues mails that are due; has no effect on one that has a job. */
export const enqueueMails =
  (producer: Pick<Producer, 'enqueueAll' | 'withoutJob'>) =>
  async (mailIds: string[]): Promise<void> => {
    const jobs = mailIds.map((id) => ({ payload: { task: 'send' as const, mail_id: id } }));
    await enqueueLost(producer, mailQueue, jobs, { overdue: true });
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

/**
 * Enqueues the next attempts at those of the pending time-stamps that have no job; returns how many. `everything`: not all of them
 * are overdue.
 */
export const enqueueLostStamps =
  (producer: Pick<Producer, 'enqueueAll' | 'withoutJob'>) =>
  (stamps: DueStamp[], { everything }: { everything: boolean }): Promise<number> =>
    enqueueLost(producer, evidenceQueue, stamps.map(stampJobOf), { overdue: !everything });
