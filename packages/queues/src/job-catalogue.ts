import { DISPATCH_QUEUES, MEMBER_STATES, type MemberState } from '@vat/domain';
import { z } from 'zod';

/** The span that a job continues (W3C Trace Context); absent while traces are off, and in jobs that no call or job enqueued. */
const traceparent = z.string().optional();
type TracedJob = { traceparent?: string | undefined };

/** Reads and replaces the span that a job continues. */
type JobTrace<Payload> = {
  of: (payload: Payload) => string | undefined;
  replace: (payload: Payload, traceparent: string) => Payload;
};

const jobTrace = <Payload extends TracedJob>(): JobTrace<Payload> => ({
  of: (job) => job.traceparent,
  replace: (job, replacement) => ({ ...job, traceparent: replacement }),
});

/** A job carries ids, never documents; the row is read when it runs. */
const requestJob = z.object({
  request_id: z.uuid(),
  /** The API process to notify of changes, because its caller waits; absent when no caller waits or the value was lost. */
  reply_to: z.string().optional(),
  /** Whether that process reads the check in a notification; absent in jobs of releases up to 0.1, which read the row. */
  reply_with_check: z.boolean().optional(),
  /** Its account and class, see `turnOf`; absent in queues without turns and in jobs of older releases. */
  turn: z.string().optional(),
  traceparent,
});
export type RequestJob = z.infer<typeof requestJob>;

/** A queue: its name, the payload of its jobs, the id that makes adding a job idempotent, and its concurrency limits. */
export type QueueDefinition<Payload = unknown> = {
  name: string;
  payload: z.ZodType<Payload>;
  /** Derived from the row. BullMQ refuses `:` and bare integers. */
  jobId: (payload: Payload) => string;
  /** In a queue in which accounts take turns: the turn of a job. */
  turnOf?: (payload: Payload) => string | undefined;
  /** In a queue whose jobs are recorded in traces. */
  trace?: JobTrace<Payload>;
  /** Maximum jobs of this queue that run at once over all workers; null when there is no limit. */
  globalConcurrency: number | null;
  /** Maximum jobs that one worker process runs at once. */
  processConcurrency: number;
};

const requestQueue = (name: string, caps: Pick<QueueDefinition, 'globalConcurrency' | 'processConcurrency'>) =>
  ({
    // The hash tag places all keys of a queue on one node of a Redis Cluster and distributes the queues over the nodes.
    name: `{${name}}`,
    payload: requestJob,
    jobId: (job: RequestJob) => job.request_id,
    trace: jobTrace<RequestJob>(),
    ...caps,
  }) satisfies QueueDefinition<RequestJob>;

/** VIES lookups of one member state: two at a time over all workers. */
export const upstreamQueue = (memberState: MemberState) =>
  ({
    ...requestQueue(`upstream-${memberState}`, { globalConcurrency: 2, processConcurrency: 2 }),
    turnOf: (job: RequestJob) => job.turn,
  }) satisfies QueueDefinition<RequestJob>;

/** Lookups in the built-in sandbox, for test keys. */
const sandboxQueue = requestQueue('upstream-sandbox', { globalConcurrency: null, processConcurrency: 20 });

/** Enrichment and recording of answered requests. */
export const settleQueue = requestQueue('settle', { globalConcurrency: null, processConcurrency: 20 });

/** The queue that makes the lookups of a request. */
export const lookupQueueOf = (request: { test: boolean; memberState: MemberState }): QueueDefinition<RequestJob> =>
  request.test ? sandboxQueue : upstreamQueue(request.memberState);

/** One attempt of one delivery, counted from 1. It carries the account because the permit is acquired before the row is read. */
const deliveryJob = z.object({ delivery_id: z.uuid(), account_id: z.uuid(), attempt: z.int().min(1), traceparent });
export type DeliveryJob = z.infer<typeof deliveryJob>;

/** `first`: first attempts to endpoints that respond quickly. `retry`: later attempts, and all attempts to slow endpoints. */
export type DeliveryQueueClass = 'first' | 'retry';

const deliveryQueueOfClass = (name: string) =>
  ({
    name: `{${name}}`,
    payload: deliveryJob,
    jobId: (job: DeliveryJob) => `${job.delivery_id}-${job.attempt}`,
    trace: jobTrace<DeliveryJob>(),
    globalConcurrency: null,
    // Attempts wait for receivers, not for this machine. Permits limit how many one endpoint occupies: a hundred endpoints
    // that stop responding at the same moment fill a process for the duration of one time-out.
    processConcurrency: 400,
  }) satisfies QueueDefinition<DeliveryJob>;

/** The queue of each class: retries never delay first attempts. */
export const DELIVERY_QUEUES = {
  first: deliveryQueueOfClass('deliveries'),
  retry: deliveryQueueOfClass('deliveries-retry'),
} as const satisfies Record<DeliveryQueueClass, QueueDefinition<DeliveryJob>>;

/** The queue for an attempt number. */
export const deliveryQueueOf = (attempt: number) => (attempt === 1 ? DELIVERY_QUEUES.first : DELIVERY_QUEUES.retry);

/**
 * The classes of jobs: a caller waits, a call that was answered 202, a line of a batch, a watch. With the priority of each in
 * queues without turns: a lower number runs earlier, and 0 is BullMQ's highest priority.
 */
export const PRIORITIES = { interactive: 0, background: 1 << 18, batch: 1 << 19, watch: 1 << 20 } as const;
export type PriorityClass = keyof typeof PRIORITIES;

/** Dispatches the waiting batch lines of one dispatch queue. `at`: the time for which it was enqueued, in milliseconds; 0 by a sweep. */
// `lane` is a name in jobs that are already in Redis; a rename would lose them.
const dispatchJob = z.object({ lane: z.enum(DISPATCH_QUEUES), at: z.int() });
export type DispatchJob = z.infer<typeof dispatchJob>;

export const batchesQueue = {
  name: '{batches}',
  payload: dispatchJob,
  jobId: (job: DispatchJob) => `dispatch-${job.lane}-${job.at}`,
  globalConcurrency: null,
  processConcurrency: 8,
} satisfies QueueDefinition<DispatchJob>;

/** Starts the runs of all due watches; there is at most one such job. */
export const watchesQueue = {
  name: '{watches}',
  payload: z.object({}),
  jobId: () => 'watches-due',
  globalConcurrency: 1,
  processConcurrency: 1,
} satisfies QueueDefinition<Record<string, never>>;

/** Obtains one time-stamp, closes the next anchor, or recomputes all anchors. */
const evidenceJob = z.discriminatedUnion('task', [
  z.object({ task: z.literal('stamp'), subject_id: z.uuid() }),
  z.object({ task: z.literal('close') }),
  z.object({ task: z.literal('verify') }),
]);
export type EvidenceJob = z.infer<typeof evidenceJob>;

export const evidenceQueue = {
  name: '{evidence}',
  payload: evidenceJob,
  jobId: (job: EvidenceJob) => (job.task === 'stamp' ? `stamp-${job.subject_id}` : `evidence-${job.task}`),
  // A Postgres lock prevents concurrent closing. Stamp jobs wait for the authority, and must not wait for each other's time-outs.
  globalConcurrency: null,
  processConcurrency: 8,
} satisfies QueueDefinition<EvidenceJob>;

/** Makes and enqueues the mails that are due, or sends one. */
const mailJob = z.discriminatedUnion('task', [
  z.object({ task: z.literal('collect') }),
  z.object({ task: z.literal('send'), mail_id: z.uuid() }),
]);
export type MailJob = z.infer<typeof mailJob>;

export const mailQueue = {
  name: '{mail}',
  payload: mailJob,
  jobId: (job: MailJob) => `mail-${job.task === 'send' ? job.mail_id : job.task}`,
  globalConcurrency: null,
  // As many mails as a process has connections to the mail server, and the task that collects them.
  processConcurrency: 4,
} satisfies QueueDefinition<MailJob>;

/** Maintenance: sweeps, deletion of expired rows, partitions of months, comparison of usage counters. */
const maintenanceJob = z.object({ task: z.enum(['sweep', 'expire', 'months', 'audit']) });
export type MaintenanceJob = z.infer<typeof maintenanceJob>;
export type MaintenanceTask = MaintenanceJob['task'];

export const maintenanceQueue = {
  name: '{maintenance}',
  payload: maintenanceJob,
  jobId: (job: MaintenanceJob) => `maintenance-${job.task}`,
  // A Postgres lock prevents that a task runs twice at once; with a global limit the job of a dead worker would block all
  // others. One job for each task, so that a long one does not delay the sweeps.
  globalConcurrency: null,
  processConcurrency: 4,
} satisfies QueueDefinition<MaintenanceJob>;

/** A value for the queue of each member state, by the name of the queue. */
export const perMemberState = <T>(make: (memberState: MemberState) => T) =>
  Object.fromEntries(MEMBER_STATES.map((memberState) => [`upstream-${memberState}`, make(memberState)])) as {
    [State in MemberState as `upstream-${State}`]: T;
  };

/** All queues of the service by name, those of the member states first. */
export const QUEUES = {
  ...perMemberState(upstreamQueue),
  'upstream-sandbox': sandboxQueue,
  settle: settleQueue,
  deliveries: DELIVERY_QUEUES.first,
  'deliveries-retry': DELIVERY_QUEUES.retry,
  batches: batchesQueue,
  watches: watchesQueue,
  evidence: evidenceQueue,
  mail: mailQueue,
  maintenance: maintenanceQueue,
};
export type QueueName = keyof typeof QUEUES;

/** The payload of the jobs of a queue. */
export type Payload<Name extends QueueName> = z.infer<(typeof QUEUES)[Name]['payload']>;
