import { DISPATCH_QUEUES, MEMBER_STATES, type MemberState } from '@vat/domain';
import { z } from 'zod';

/** A job carries ids, never documents; the row is read when it runs. */
export const requestJob = z.object({
  request_id: z.uuid(),
  /** The API process whose caller waits, to be told when there is news; absent when nobody waits or it was lost. */
  reply_to: z.string().optional(),
});
export type RequestJob = z.infer<typeof requestJob>;

/** A queue: its name, what its jobs carry, the id that makes adding twice harmless, and its cap over the whole fleet. */
export type QueueDefinition<Payload = unknown> = {
  name: string;
  payload: z.ZodType<Payload>;
  /** Derived from the row. BullMQ refuses `:` and bare integers. */
  jobId: (payload: Payload) => string;
  /** Jobs of this queue that may run at once over all workers; null where there is no such promise. */
  globalConcurrency: number | null;
  /** Jobs one worker process runs at once. */
  processConcurrency: number;
};

const requestQueue = (name: string, caps: Pick<QueueDefinition, 'globalConcurrency' | 'processConcurrency'>) =>
  ({
    // The hash tag keeps a queue's keys on one node of a Redis Cluster and spreads the queues over the nodes.
    name: `{${name}}`,
    payload: requestJob,
    jobId: (job: RequestJob) => job.request_id,
    ...caps,
  }) satisfies QueueDefinition<RequestJob>;

/** Asks of VIES about one member state: two at a time over the fleet. */
export const upstreamQueue = (memberState: MemberState) =>
  requestQueue(`upstream-${memberState}`, { globalConcurrency: 2, processConcurrency: 2 });

/** Asks of the sandbox inside the service, for test keys. */
export const sandboxQueue = requestQueue('upstream-sandbox', { globalConcurrency: null, processConcurrency: 20 });

/** Enrichment and recording of answered requests. */
export const settleQueue = requestQueue('settle', { globalConcurrency: null, processConcurrency: 20 });

/** The queue that asks for a request. */
export const lookupQueueOf = (request: { test: boolean; memberState: MemberState }) =>
  request.test ? sandboxQueue : upstreamQueue(request.memberState);

/** One attempt of one delivery, from 1. The account is there because its endpoint's share is judged before the row is read. */
export const deliveryJob = z.object({ delivery_id: z.uuid(), account_id: z.uuid(), attempt: z.int().min(1) });
export type DeliveryJob = z.infer<typeof deliveryJob>;

/** `first`: first attempts, to endpoints that answer. `retry`: later attempts, and all attempts to endpoints that are slow. */
export type DeliveryQueueClass = 'first' | 'retry';

const deliveryQueueOfClass = (name: string) =>
  ({
    name: `{${name}}`,
    payload: deliveryJob,
    jobId: (job: DeliveryJob) => `${job.delivery_id}-${job.attempt}`,
    globalConcurrency: null,
    // They wait for receivers, not for this machine. What one endpoint may hold of them is its share: a hundred that begin
    // to hang at the same moment fill a process, for one time-out.
    processConcurrency: 400,
  }) satisfies QueueDefinition<DeliveryJob>;

/** Deliveries, by lane: retries never hold up first attempts. */
export const DELIVERY_QUEUES = {
  first: deliveryQueueOfClass('deliveries'),
  retry: deliveryQueueOfClass('deliveries-retry'),
} as const satisfies Record<DeliveryQueueClass, QueueDefinition<DeliveryJob>>;

/** The queue of an attempt by its number. */
export const deliveryQueueOf = (attempt: number) => (attempt === 1 ? DELIVERY_QUEUES.first : DELIVERY_QUEUES.retry);

/** Who goes first within a queue: the lower, the earlier; 0 is BullMQ's own "before everything". */
export const PRIORITIES = { interactive: 0, background: 1 << 18, batch: 1 << 19, watch: 1 << 20 } as const;
export type PriorityClass = keyof typeof PRIORITIES;

/** Has the lines of batches that wait in a lane fed. `at`: the moment that asks for it, in milliseconds. */
export const dispatchJob = z.object({ lane: z.enum(DISPATCH_QUEUES), at: z.int() });
export type DispatchJob = z.infer<typeof dispatchJob>;

export const batchesQueue = {
  name: '{batches}',
  payload: dispatchJob,
  jobId: (job: DispatchJob) => `feed-${job.lane}-${job.at}`,
  globalConcurrency: null,
  processConcurrency: 8,
} satisfies QueueDefinition<DispatchJob>;

/** Starts the runs of the watches that are due; one job for all of them. */
export const watchesQueue = {
  name: '{watches}',
  payload: z.object({}),
  jobId: () => 'watches-due',
  globalConcurrency: 1,
  processConcurrency: 1,
} satisfies QueueDefinition<Record<string, never>>;

/** Has one time-stamp made, closes the next anchor, or recomputes all of them. */
export const evidenceJob = z.discriminatedUnion('task', [
  z.object({ task: z.literal('stamp'), subject_id: z.uuid() }),
  z.object({ task: z.literal('close') }),
  z.object({ task: z.literal('verify') }),
]);
export type EvidenceJob = z.infer<typeof evidenceJob>;

export const evidenceQueue = {
  name: '{evidence}',
  payload: evidenceJob,
  jobId: (job: EvidenceJob) => (job.task === 'stamp' ? `stamp-${job.subject_id}` : `evidence-${job.task}`),
  // Closing is alone by a lock of Postgres; stamps wait for the authority, and must not wait for each other's time-outs.
  globalConcurrency: null,
  processConcurrency: 8,
} satisfies QueueDefinition<EvidenceJob>;

/** Work of the operators: sweeps, expiry, reconciliation. */
export const maintenanceJob = z.object({ task: z.enum(['sweep', 'expire', 'audit']) });
export type MaintenanceJob = z.infer<typeof maintenanceJob>;
export type MaintenanceTask = MaintenanceJob['task'];

export const maintenanceQueue = {
  name: '{maintenance}',
  payload: maintenanceJob,
  jobId: (job: MaintenanceJob) => `maintenance-${job.task}`,
  // Two sweeps at once do no harm, and a slot that a dead worker still held would keep all others from sweeping.
  globalConcurrency: null,
  processConcurrency: 1,
} satisfies QueueDefinition<MaintenanceJob>;

/** Every queue of the service, those of the member states first. */
export const ALL_QUEUES: readonly Pick<QueueDefinition, 'name'>[] = [
  ...MEMBER_STATES.map(upstreamQueue),
  sandboxQueue,
  settleQueue,
  ...Object.values(DELIVERY_QUEUES),
  batchesQueue,
  watchesQueue,
  evidenceQueue,
  maintenanceQueue,
];
