import { openConnections, readiness } from '@vat/composition';
import { pingDatabase, readWaits } from '@vat/db';
import {
  type Consumer,
  type JobHandlers,
  joinCluster,
  pingRedis,
  QUEUES,
  startConsumers,
  traceHandlers,
} from '@vat/queues';
import {
  createMetrics,
  errorFields,
  type Logger,
  type Stoppable,
  type Tracing,
  throttledLog,
  throttledWarn,
  traceFields,
} from '@vat/runtime';
import { auditFinding } from './audit-finding.js';
import { measureWaits } from './measure-waits.js';
import type { WorkerSettings } from './settings.js';

const REPEAT_JOB_WARNING_MS = 1_000;

/** A job that has failed so often while others succeeded is retried every two minutes or less often. */
const KEEPS_FAILING = 8;

/** What all parts of a worker share: settings, connections, log, metrics and `serve`, which starts the consumers. */
export type WorkerContext = ReturnType<typeof createWorkerContext>;

/** Connects a worker process to Postgres and Redis. `stopping` aborts when no new job is to be started. */
export const createWorkerContext = (
  settings: WorkerSettings,
  { log, tracing }: { log: Logger; tracing: Tracing | null },
  stopping: AbortSignal,
) => {
  const database = { queryTimeoutMs: 5_000, connectTimeoutMs: 3_000, applicationName: 'vat-worker' };
  const connections = openConnections(settings, database, { log, tracing });
  const { db, now, producer, producerRedis, consumerRedis, publishChange } = connections;
  const metrics = createMetrics('worker');

  const onJobError = throttledWarn(log, 'A job failed and was rescheduled.', now, REPEAT_JOB_WARNING_MS);
  const onJobFailing = throttledLog(
    (fields) => log.error('A job keeps failing while others succeed; it is retried every few minutes.', fields),
    now,
  );
  // For example: a job moved to another worker because this one stalled for longer than its lock, or Redis lost the job.
  const onQueueError = throttledWarn(log, 'A queue had an error.', now);
  let consumers: Consumer[] = [];
  /** Serves the queues that have a handler. Returns what to stop, last first. */
  const serve = (handlers: JobHandlers): Stoppable[] => {
    consumers = startConsumers(tracing ? traceHandlers(tracing, handlers) : handlers, {
      connection: consumerRedis,
      prefix: settings.REDIS_PREFIX,
      stopping,
      now,
      onError: onQueueError,
      onJobError: (error, { queue, jobId, failures, traceparent }) => {
        metrics.jobErrors.inc({ queue });
        const fields = { queue, job_id: jobId, failures, ...traceFields(traceparent) };
        if (failures < KEEPS_FAILING) onJobError(error, fields);
        else onJobFailing({ ...fields, ...errorFields(error) });
      },
    });
    // Prometheus sees no increase in a series that begins with its first count.
    for (const { name } of consumers) metrics.jobErrors.inc({ queue: name }, 0);
    const capOf = new Map(Object.values(QUEUES).map(({ name, globalConcurrency }) => [name, globalConcurrency]));
    const membership = joinCluster({
      connection: producerRedis,
      prefix: settings.REDIS_PREFIX,
      queues: consumers.map(({ name }) => name).filter((name) => capOf.get(name)),
      onCount: (queue, processes) => {
        const consumer = consumers.find(({ name }) => name === queue);
        consumer?.setConcurrency(Math.max(1, Math.ceil((capOf.get(queue) ?? 1) / processes)));
      },
      now,
    });
    return [
      {
        name: 'consumers',
        stop: async () => void (await Promise.all(consumers.map((consumer) => consumer.close()))),
      },
      // Before the consumers, so that other processes take over the share of this one while its last jobs run.
      { name: 'fleet', stop: membership.close },
    ];
  };

  /** Stopped last: everything else may still need them. */
  const servers: Stoppable[] = [
    { name: 'traces', stop: async () => tracing?.close() },
    { name: 'database', stop: connections.closeDatabase },
    {
      name: 'redis',
      stop: () => {
        connections.flushPageUpdates();
        return connections.closeRedis();
      },
    },
  ];
  const redisAnswers = pingRedis(producerRedis);
  const readinessNow = readiness({ pingDatabase: pingDatabase(db), pingRedis: redisAnswers, stopping });
  const ready = async () => ({ ...(await readinessNow()), queues: consumers.map((consumer) => consumer.name) });

  const updateWaits = measureWaits({ readWaits: readWaits(db), metrics, now });
  const usageFinding = auditFinding(metrics.usageDifferences, settings.AUDIT_EVERY, now);
  const anchorFinding = auditFinding(metrics.anchorDifferences, settings.ANCHORS_VERIFIED_EVERY, now);
  const scrape = async () => {
    await updateWaits();
    usageFinding.withdrawWhenOld();
    anchorFinding.withdrawWhenOld();
    metrics.degraded.set((await redisAnswers()) ? 0 : 1);
    return { type: metrics.registry.contentType, text: await metrics.registry.metrics() };
  };

  const reportNeverAsked = throttledLog(
    (fields) => log.error('Requests ended without ever being looked up: workers or member states are missing.', fields),
    now,
  );
  /** Reports the end of requests that were never looked up. */
  const alarmNeverAsked = (requests: number): void => {
    metrics.upstreamAlarms.inc({ code: 'NEVER_ASKED' }, requests);
    reportNeverAsked({ code: 'NEVER_ASKED', requests });
  };
  return {
    settings,
    log,
    tracing,
    now,
    clockMeasured: connections.clockMeasured,
    metrics,
    db,
    producer,
    producerRedis,
    publishChange,
    alarmNeverAsked,
    usageFinding,
    anchorFinding,
    serve,
    servers,
    ready,
    scrape,
  };
};
