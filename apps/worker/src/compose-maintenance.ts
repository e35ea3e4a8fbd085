import { composeSweep, runEach } from '@vat/composition';
import {
  auditBatches,
  auditUsage,
  deleteExpiredInvitations,
  deleteExpiredKeys,
  deleteExpiredSessions,
  deleteHours,
  deleteMinutes,
  deleteOldBatches,
  deleteOldCoverages,
  deleteOldDeliveries,
  deleteOldEvidence,
  deleteOldMail,
  evidenceAge,
  maintainPartitions,
  runAlone,
  WHOLE_MONTHS_FROM_MS,
} from '@vat/db';
import { auditedFrom, auditedPeriods, HISTORY_RETENTION_MS, lineLimitAt, MEMBER_STATES, publicId } from '@vat/domain';
import {
  ensureSchedulers,
  evidenceQueue,
  type JobHandler,
  type MaintenanceJob,
  type MaintenanceTask,
  mailQueue,
  maintenanceQueue,
  upstreamQueue,
  watchesQueue,
} from '@vat/queues';
import { errorFields, type Stoppable, throttledWarn } from '@vat/runtime';
import { watchEvidence } from './watch-evidence.js';
import type { WorkerContext } from './worker-context.js';

const HOUR_MS = 3_600_000;
/**
 * One partition is dropped at a time: freeing a million rows keeps the disk busy for half a second, which the p99 of a minute does
 * not notice.
 */
const MONTHS_EVERY_MS = 300_000;
const STATISTICS_RETENTION_MS = 24 * HOUR_MS;
/** How long a sweep for everything waits for another one to end. */
const SWEEP_WAIT_MS = 60_000;
/** Differences logged in one audit: one is enough to show a fault. */
const MAX_DIFFERENCES = 20;

/**
 * Maintains the job schedulers in Redis, in every process. The maintenance jobs are the sweep, expiry, the partitions of months,
 * and the audit of the usage counters. Each runs in one process of the fleet at a time; the job of one that is still running
 * does nothing.
 */
export const composeMaintenance = (context: WorkerContext) => {
  const { settings, log, now, metrics, db, producer, producerRedis, publishChange, usageFinding } = context;

  const watchEvidenceOnce = watchEvidence({
    readAge: evidenceAge(db),
    anchorEveryMs: settings.ANCHOR_EVERY,
    metrics,
    now,
    log,
  });
  const sweep = composeSweep({
    db,
    producer,
    windowMs: settings.UPSTREAM_WINDOW,
    onNeverAsked: context.alarmNeverAsked,
    onRequestEnded: ({ id, accountId }) => publishChange(accountId, 'requests', publicId('request', id)),
    onRequestNotEnded: ({ id }, error) =>
      log.error('A request could not be ended; the next sweep will retry.', {
        request: publicId('request', id),
        ...errorFields(error),
      }),
    onBatchCompleted: ({ id, accountId }) => publishChange(accountId, 'batches', publicId('batch', id)),
    report: (swept, scope) => {
      for (const [action, n] of Object.entries(swept)) if (n > 0) metrics.swept.inc({ action }, n);
      if (Object.values(swept).some((n) => n > 0)) log.info('Swept.', { ...swept, ...scope });
    },
    now,
  });
  const alone = runAlone(db);
  /** After a loss of Redis. A sweep that began before it does not find what is due later. */
  const sweepEverything = async (): Promise<void> => {
    const swept = await alone('sweep', () => sweep({ everything: true }), SWEEP_WAIT_MS);
    if (swept === null) throw new Error('another sweep is under way');
  };

  const audit = async (): Promise<void> => {
    const differences = [];
    for (const period of auditedPeriods(now())) differences.push(...(await auditUsage(db)(period, MAX_DIFFERENCES)));
    usageFinding.report(differences.length);
    for (const { accountId, ...counts } of differences) {
      log.error('The usage counters of an account differ from what they count.', {
        account_id: publicId('account', accountId),
        ...counts,
      });
    }
    const since = new Date(now().getTime() - 2 * settings.AUDIT_EVERY);
    for (const { batchId, ...counts } of await auditBatches(db)(since, MAX_DIFFERENCES)) {
      log.error('The counts of a batch differ from its lines.', { batch: publicId('batch', batchId), ...counts });
    }
  };

  const ago = (ms: number) => new Date(now().getTime() - ms);
  const maintainMonths = (atMost: number) =>
    maintainPartitions(settings.DATABASE_URL)(
      now(),
      { evidenceBefore: ago(settings.EVIDENCE_KEPT), deliveriesBefore: ago(settings.DELIVERIES_KEPT) },
      { atMost },
    );
  const months = async (): Promise<void> => {
    const { made, dropped, failures } = await maintainMonths(1);
    if (made.length > 0 || dropped.length > 0) log.info('Partitions were made or dropped.', { made, dropped });
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
  };
  /** Months of rows that are stored for long are dropped as a whole. */
  const wholeMonths = (storedMs: number) => ({ wholeMonths: storedMs >= WHOLE_MONTHS_FROM_MS });

  const tasks: Record<MaintenanceTask, () => Promise<unknown>> = {
    // A sweep that keeps failing must not hide how long evidence waits.
    sweep: () => runEach([() => alone('sweep', () => sweep({ everything: false })), watchEvidenceOnce]),
    expire: () => {
      const steps = [
        () => deleteExpiredKeys(db)(now()),
        () => deleteExpiredSessions(db)(now()),
        () => deleteExpiredInvitations(db)(now()),
        () => deleteMinutes(db)(ago(STATISTICS_RETENTION_MS)),
        () => deleteHours(db)(ago(HISTORY_RETENTION_MS)),
        () => deleteOldMail(db)(now()),
        () => deleteOldBatches(db)(ago(settings.BATCHES_KEPT), lineLimitAt(now()).since),
        () => deleteOldCoverages(db)(ago(settings.EVIDENCE_KEPT)),
        async () => {
          // Rows of months that are about to be dropped need not be deleted.
          if ((await maintainMonths(0)).left) return;
          await runEach([
            () => deleteOldDeliveries(db)(ago(settings.DELIVERIES_KEPT), wholeMonths(settings.DELIVERIES_KEPT)),
            () =>
              deleteOldEvidence(db)(ago(settings.EVIDENCE_KEPT), undefined, {
                ...wholeMonths(settings.EVIDENCE_KEPT),
                unitsBefore: auditedFrom(now()),
              }),
          ]);
        },
      ];
      return alone('expire', () => runEach(steps));
    },
    months: () => alone('months', months),
    audit: () => alone('audit', audit),
  };
  const warn = {
    sweep: throttledWarn(log, 'A sweep failed; the next one is scheduled.', now),
    expire: throttledWarn(log, 'The expiry failed; the next one is scheduled.', now),
    months: throttledWarn(log, 'The partitions of months were not made or dropped; the next run is scheduled.', now),
    audit: throttledWarn(log, 'The audit failed; the next one is scheduled.', now),
  } satisfies Record<MaintenanceTask, unknown>;
  // Not retried: jobs that keep failing would pile up before the sweeps, one more in every period.
  const maintenance: JobHandler<MaintenanceJob> = async ({ task }) => {
    try {
      await tasks[task]();
      return undefined;
    } catch (error) {
      metrics.jobErrors.inc({ queue: maintenanceQueue.name });
      warn[task](error);
      return { failed: true };
    }
  };

  const intervals: Record<MaintenanceTask, number> = {
    sweep: settings.SWEEP_EVERY,
    expire: HOUR_MS,
    months: MONTHS_EVERY_MS,
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
      // Also by a worker without a mail server: another one may have it. Where none has, one job waits.
      { queue: mailQueue, id: 'collect', payload: { task: 'collect' }, everyMs: settings.SWEEP_EVERY },
    ],
    onLoss: sweepEverything,
    onError: throttledWarn(log, 'The job schedulers could not be created in Redis; will retry.', now),
  });
  const parts: Stoppable[] = [{ name: 'schedulers', stop: schedulers.close }];
  return { maintenance, parts };
};
