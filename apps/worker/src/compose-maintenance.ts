import {
  auditBatches,
  auditUsage,
  completeBatches,
  deleteExpiredKeys,
  deleteExpiredSessions,
  deleteHours,
  deleteMinutes,
  deleteOldBatches,
  deleteOldCoverages,
  deleteOldDeliveries,
  deleteOldEvidence,
  dueStamps,
  endLostLines,
  endRemovedDeliveries,
  endRequest,
  evidenceAge,
  findLiveRequests,
  findPendingDeliveries,
  holdDeliveries,
  maintainPartitions,
  overdueDeliveries,
  overdueRequests,
  queuesToDispatch,
  releaseOrphans,
  requestsToAbandon,
  resumeDeliveries,
  runAlone,
  WHOLE_MONTHS_FROM_MS,
} from '@vat/db';
import {
  auditedPeriods,
  endLateRequests,
  enqueueLostRequests,
  HISTORY_RETENTION_MS,
  MEMBER_STATES,
  publicId,
  releaseOrphanedRequests,
  sweepBatches,
  sweepDeliveries,
  sweepStamps,
} from '@vat/domain';
import {
  deliveriesWithoutJob,
  enqueueDelivery,
  enqueueDispatches,
  enqueueLateDeliveries,
  enqueueLostStamps,
  enqueueOverdue,
  ensureSchedulers,
  evidenceQueue,
  type JobHandler,
  type MaintenanceJob,
  type MaintenanceTask,
  maintenanceQueue,
  requestsWithoutJob,
  upstreamQueue,
  watchesQueue,
} from '@vat/queues';
import { errorFields, type Stoppable, throttledWarn } from '@vat/runtime';
import { watchEvidence } from './watch-evidence.js';
import { REPEAT_WARNING_MS, type WorkerContext } from './worker-context.js';

/** Runs every step in turn, also after one failed, and then throws what the steps threw. */
export const runEach = async (steps: readonly (() => Promise<unknown>)[]): Promise<void> => {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
  if (failures.length === 1) throw failures[0];
};

/** A part of the sweep; resolves to its actions and how often each was taken. */
type SweepStep = (scope: { everything: boolean }) => Promise<Record<string, number>>;

/** Runs every part of the sweep as {@link runEach} does, and reports all actions. */
export const sweepSteps =
  (parts: readonly SweepStep[], report: (swept: Record<string, number>, scope: { everything: boolean }) => void) =>
  async (scope: { everything: boolean }): Promise<void> => {
    const swept: Record<string, number> = {};
    await runEach(parts.map((part) => async () => Object.assign(swept, await part(scope)))).finally(() =>
      report(swept, scope),
    );
  };

const HOUR_MS = 3_600_000;
const STATISTICS_RETENTION_MS = 24 * HOUR_MS;
/** How long a sweep for everything waits for another one to end. */
const SWEEP_WAIT_MS = 60_000;
/** Differences logged in one audit: one is enough to show a fault. */
const MAX_DIFFERENCES = 20;

/**
 * Maintains the job schedulers in Redis, in every process. The maintenance jobs are the sweep, expiry, and the audit of the
 * usage counters. Each runs in one process of the fleet at a time; the job of one that is still running does nothing.
 */
export const composeMaintenance = (context: WorkerContext) => {
  const { settings, log, now, metrics, db, producer, producerRedis, publishChange } = context;

  const sweepRequestsSteps = [
    endLateRequests({
      toAbandon: requestsToAbandon(db),
      endRequest: endRequest(db),
      enqueueDelivery: enqueueDelivery(producer),
      onEnded: ({ id, accountId, reason }) => {
        if (reason === 'NEVER_ASKED') context.alarmNeverAsked(1);
        publishChange(accountId, 'requests', publicId('request', id));
      },
      onNotEnded: ({ id }, error) =>
        log.error('A request could not be ended; the next sweep will retry.', { request: id, ...errorFields(error) }),
      now,
    }),
    releaseOrphanedRequests({
      releaseOrphans: releaseOrphans(db),
      windowMs: settings.UPSTREAM_WINDOW,
      now,
    }),
    enqueueLostRequests({
      overdue: overdueRequests(db),
      withoutJob: requestsWithoutJob(producer),
      findLive: findLiveRequests(db),
      enqueue: enqueueOverdue(producer),
      now,
    }),
  ];
  const sweepDeliveriesOnce = sweepDeliveries({
    overdue: overdueDeliveries(db),
    hold: holdDeliveries(db),
    resume: resumeDeliveries(db),
    endRemoved: endRemovedDeliveries(db),
    withoutJob: deliveriesWithoutJob(producer),
    findPending: findPendingDeliveries(db),
    enqueueLate: enqueueLateDeliveries(producer),
    now,
  });
  const complete = completeBatches(db);
  const sweepBatchesOnce = sweepBatches({
    endLost: endLostLines(db),
    onNeverAsked: context.alarmNeverAsked,
    complete: async (at) => {
      const completed = await complete(null, at);
      for (const { id, accountId } of completed) publishChange(accountId, 'batches', publicId('batch', id));
      return completed;
    },
    queuesToDispatch: queuesToDispatch(db, now),
    dispatch: enqueueDispatches(producer, now),
    enqueueDelivery: enqueueDelivery(producer),
    now,
  });
  const sweepStampsOnce = sweepStamps({ due: dueStamps(db), enqueueLost: enqueueLostStamps(producer), now });
  const watchEvidenceOnce = watchEvidence({
    readAge: evidenceAge(db),
    anchorEveryMs: settings.ANCHOR_EVERY,
    metrics,
    now,
    log,
  });
  const sweep = sweepSteps(
    [...sweepRequestsSteps, sweepBatchesOnce, sweepDeliveriesOnce, sweepStampsOnce],
    (swept, scope) => {
      for (const [action, n] of Object.entries(swept)) if (n > 0) metrics.swept.inc({ action }, n);
      if (Object.values(swept).some((n) => n > 0)) log.info('Swept.', { ...swept, ...scope });
    },
  );
  const alone = runAlone(db);
  /** After a loss of Redis. A sweep that began before it does not find what is due later. */
  const sweepEverything = async (): Promise<void> => {
    const swept = await alone('sweep', () => sweep({ everything: true }), SWEEP_WAIT_MS);
    if (swept === null) throw new Error('another sweep is under way');
  };

  const audit = async (): Promise<void> => {
    const differences = [];
    for (const period of auditedPeriods(now())) differences.push(...(await auditUsage(db)(period, MAX_DIFFERENCES)));
    metrics.usageDifferences.set(differences.length);
    for (const { accountId, ...counts } of differences) {
      log.error('The usage counters of an account differ from what they count.', { account_id: accountId, ...counts });
    }
    const since = new Date(now().getTime() - 2 * settings.AUDIT_EVERY);
    for (const { batchId, ...counts } of await auditBatches(db)(since, MAX_DIFFERENCES)) {
      log.error('The counts of a batch differ from its lines.', { batch: batchId, ...counts });
    }
  };

  const partitions = async (evidenceBefore: Date, deliveriesBefore: Date): Promise<void> => {
    const { made, dropped, failures } = await maintainPartitions(settings.DATABASE_URL)(now(), {
      evidenceBefore,
      deliveriesBefore,
    });
    if (made.length > 0 || dropped.length > 0) log.info('Partitions were made or dropped.', { made, dropped });
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
  };
  /** Months of rows that are stored for long are dropped as a whole. */
  const wholeMonths = (storedMs: number) => ({ wholeMonths: storedMs >= WHOLE_MONTHS_FROM_MS });

  const tasks: Record<MaintenanceTask, () => Promise<unknown>> = {
    sweep: async () => {
      await alone('sweep', () => sweep({ everything: false }));
      await watchEvidenceOnce();
    },
    expire: () => {
      const ago = (ms: number) => new Date(now().getTime() - ms);
      const steps = [
        () => deleteExpiredKeys(db)(now()),
        () => deleteExpiredSessions(db)(now()),
        () => deleteMinutes(db)(ago(STATISTICS_RETENTION_MS)),
        () => deleteHours(db)(ago(HISTORY_RETENTION_MS)),
        () => deleteOldBatches(db)(ago(settings.BATCHES_KEPT)),
        () => partitions(ago(settings.EVIDENCE_KEPT), ago(settings.DELIVERIES_KEPT)),
        () => deleteOldDeliveries(db)(ago(settings.DELIVERIES_KEPT), wholeMonths(settings.DELIVERIES_KEPT)),
        () => deleteOldCoverages(db)(ago(settings.EVIDENCE_KEPT)),
        () => deleteOldEvidence(db)(ago(settings.EVIDENCE_KEPT), undefined, wholeMonths(settings.EVIDENCE_KEPT)),
      ];
      return alone('expire', () => runEach(steps));
    },
    audit: () => alone('audit', audit),
  };
  const warn = {
    sweep: throttledWarn(log, 'A sweep failed; the next one is scheduled.', REPEAT_WARNING_MS, now),
    expire: throttledWarn(log, 'The expiry failed; the next one is scheduled.', REPEAT_WARNING_MS, now),
    audit: throttledWarn(log, 'The audit failed; the next one is scheduled.', REPEAT_WARNING_MS, now),
  } satisfies Record<MaintenanceTask, unknown>;
  // Not retried: jobs that keep failing would pile up before the sweeps, one more in every period.
  const maintenance: JobHandler<MaintenanceJob> = async ({ task }) => {
    await tasks[task]().catch((error: unknown) => {
      metrics.jobErrors.inc({ queue: maintenanceQueue.name });
      warn[task](error);
    });
    return undefined;
  };

  const intervals: Record<MaintenanceTask, number> = {
    sweep: settings.SWEEP_EVERY,
    expire: HOUR_MS,
    audit: settings.AUDIT_EVERY,
  };
  const schedule = Object.entries(intervals).map(([task, everyMs]) => ({
    queue: maintenanceQueue,
    id: task,
    payload: { task },
    everyMs,
  }));
  const schedulers = ensureSchedulers({
    connection: producerRedis,
    producer,
    prefix: settings.REDIS_PREFIX,
    capped: [...MEMBER_STATES.map(upstreamQueue), watchesQueue],
    schedule: [
      ...schedule,
      { queue: watchesQueue, id: 'due', payload: {}, everyMs: settings.WATCHES_EVERY },
      { queue: evidenceQueue, id: 'close', payload: { task: 'close' }, everyMs: settings.ANCHOR_EVERY },
      { queue: evidenceQueue, id: 'verify', payload: { task: 'verify' }, everyMs: settings.ANCHORS_VERIFIED_EVERY },
    ],
    onLoss: sweepEverything,
    onError: throttledWarn(
      log,
      'The job schedulers could not be created in Redis; will retry.',
      REPEAT_WARNING_MS,
      now,
    ),
  });
  const parts: Stoppable[] = [{ name: 'schedulers', stop: schedulers.close }];
  return { maintenance, parts };
};
