import {
  completeBatches,
  type Database,
  dueStamps,
  endLostLines,
  endRemovedDeliveries,
  endRequest,
  findLiveRequests,
  findPendingDeliveries,
  holdDeliveries,
  overdueDeliveries,
  overdueRequests,
  queuesToDispatch,
  releaseOrphans,
  requestsToAbandon,
  resumeDeliveries,
} from '@vat/db';
import {
  endLateRequests,
  enqueueLostRequests,
  releaseOrphanedRequests,
  sweepBatches,
  sweepDeliveries,
  sweepStamps,
} from '@vat/domain';
import {
  deliveriesWithoutJob,
  enqueueDelivery,
  enqueueLateDeliveries,
  enqueueLostStamps,
  enqueueOverdue,
  enqueueSweptDispatches,
  type Producer,
  requestsWithoutJob,
} from '@vat/queues';

/** Runs every step in turn, also after one failed, and then throws what the steps threw. */
export const runEach = async (steps: readonly (() => Promise<unknown>)[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
  if (failures.length === 1) throw failures[0];
};

type Scope = { everything: boolean };
type Swept = Record<string, number>;

/** A part of the sweep; resolves to its actions and how often each was taken. */
type SweepStep = (scope: Scope) => Promise<Swept>;

/** Runs every part of the sweep as {@link runEach} does, and reports all actions. */
export const sweepSteps =
  (parts: readonly SweepStep[], report: (swept: Swept, scope: Scope) => void) =>
  async (scope: Scope): Promise<void> => {
    const swept: Swept = {};
    await runEach(parts.map((part) => async () => Object.assign(swept, await part(scope)))).finally(() =>
      report(swept, scope),
    );
  };

type SweepDeps = {
  db: Database;
  producer: Producer;
  /** How long a direct call waits, in milliseconds. */
  windowMs: number;
  /** Called with the number of requests that ended without ever being looked up. */
  onNeverAsked?: (requests: number) => void;
  onRequestEnded?: (request: { id: string; accountId: string }) => void;
  onRequestNotEnded?: (request: { id: string }, error: unknown) => void;
  onBatchCompleted?: (batch: { id: string; accountId: string }) => void;
  report: (swept: Swept, scope: Scope) => void;
  now: () => Date;
};

type JobSweepDeps = Pick<SweepDeps, 'db' | 'producer' | 'now'>;

/** Enqueues overdue requests that have no job. */
export const sweepRequestJobs = ({ db, producer, now }: JobSweepDeps) =>
  enqueueLostRequests({
    overdue: overdueRequests(db),
    withoutJob: requestsWithoutJob(producer),
    findLive: findLiveRequests(db),
    enqueue: enqueueOverdue(producer),
    now,
  });

/** Enqueues overdue deliveries that have no job, and holds, resumes and ends those of which accounts and endpoints have changed. */
export const sweepDeliveryJobs = ({ db, producer, now }: JobSweepDeps) =>
  sweepDeliveries({
    overdue: overdueDeliveries(db),
    hold: holdDeliveries(db),
    resume: resumeDeliveries(db),
    endRemoved: endRemovedDeliveries(db),
    withoutJob: deliveriesWithoutJob(producer),
    findPending: findPendingDeliveries(db),
    enqueueLate: enqueueLateDeliveries(producer),
    now,
  });

/**
 * The sweep: makes good what a crash, or a loss of Redis, left behind in requests, batches, deliveries and time-stamps. It does
 * not exclude another sweep; see `runAlone`.
 */
export const composeSweep = ({
  db,
  producer,
  windowMs,
  onNeverAsked = () => undefined,
  onRequestEnded = () => undefined,
  onRequestNotEnded = () => undefined,
  onBatchCompleted = () => undefined,
  report,
  now,
}: SweepDeps) => {
  const enqueueOne = enqueueDelivery(producer);
  const complete = completeBatches(db);
  return sweepSteps(
    [
      endLateRequests({
        toAbandon: requestsToAbandon(db),
        endRequest: endRequest(db),
        enqueueDelivery: enqueueOne,
        onEnded: (request) => {
          if (request.reason === 'NEVER_ASKED') onNeverAsked(1);
          onRequestEnded(request);
        },
        onNotEnded: onRequestNotEnded,
        now,
      }),
      releaseOrphanedRequests({ releaseOrphans: releaseOrphans(db), windowMs, now }),
      sweepRequestJobs({ db, producer, now }),
      sweepBatches({
        endLost: endLostLines(db),
        onNeverAsked,
        complete: async (at) => {
          const completed = await complete(null, at);
          for (const batch of completed) onBatchCompleted(batch);
          return completed;
        },
        queuesToDispatch: queuesToDispatch(db, now),
        dispatch: enqueueSweptDispatches(producer),
        enqueueDelivery: enqueueOne,
        now,
      }),
      sweepDeliveryJobs({ db, producer, now }),
      sweepStamps({ due: dueStamps(db), enqueueLost: enqueueLostStamps(producer), now }),
    ],
    report,
  );
};
