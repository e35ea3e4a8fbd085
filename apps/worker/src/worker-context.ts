import { connectDatabase, pingDatabase } from '@vat/db';
import {
  type Consumer,
  connectRedis,
  createProducer,
  type JobHandler,
  joinCluster,
  pingRedis,
  publishPageUpdates,
  type QueueDefinition,
  startConsumer,
} from '@vat/queues';
import { createMetrics, type Logger, type Stoppable, throttledWarn, withLogContext } from '@vat/runtime';
import type { WorkerSettings } from './settings.js';

/** A warning that persists is repeated after this time. */
export const REPEAT_WARNING_MS = 30_000;
const REPEAT_JOB_WARNING_MS = 1_000;

/** What all parts of a worker share: settings, connections, log, metrics and `serve`, which starts a consumer. */
export type WorkerContext = ReturnType<typeof createWorkerContext>;

/** Connects a worker process to Postgres and Redis. `stopping` aborts when no new job is to be started. */
export const createWorkerContext = (settings: WorkerSettings, log: Logger, stopping: AbortSignal) => {
  const now = () => new Date();
  const metrics = createMetrics('worker');
  const { db, close: closeDatabase } = connectDatabase({
    url: settings.DATABASE_URL,
    maxConnections: 20,
    queryTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    applicationName: 'vat-worker',
  });
  const onRedisError = throttledWarn(log, 'Redis is away.', REPEAT_WARNING_MS, now);
  const consumerRedis = connectRedis(settings.REDIS_URL, 'consumer', onRedisError);
  const producerRedis = connectRedis(settings.REDIS_URL, 'producer', onRedisError);
  const producer = createProducer(producerRedis, settings.REDIS_PREFIX);
  const pages = publishPageUpdates(producerRedis, settings.REDIS_PREFIX);

  const onJobError = throttledWarn(log, 'A job failed and was rescheduled.', REPEAT_JOB_WARNING_MS, now);
  // For example: a job moved to another worker because this one stalled for longer than its lock, or Redis lost the job.
  const onQueueError = throttledWarn(log, 'A queue had an error.', REPEAT_WARNING_MS, now);
  const consumers: Consumer[] = [];
  /** Capped queues by name. The processes of the fleet share the cap. */
  const capped = new Map<string, { consumer: Consumer; globalConcurrency: number }>();
  /**
   * Runs the jobs of a queue in this process. Their log lines carry the job's id unless `logJobId` is false: the log context
   * costs time at every promise, too much for a queue with thousands of jobs a second.
   */
  const serve = <P>(definition: QueueDefinition<P>, handle: JobHandler<P>, { logJobId = true } = {}): void => {
    const handleWithContext: JobHandler<P> = (payload, context) =>
      withLogContext({ job_id: context.jobId, queue: definition.name }, () => handle(payload, context));
    const consumer = startConsumer(definition, logJobId ? handleWithContext : handle, {
      connection: consumerRedis,
      prefix: settings.REDIS_PREFIX,
      stopping,
      onError: onQueueError,
      onJobError: (error, job) => {
        metrics.jobErrors.inc({ queue: job.queue });
        onJobError(error, { queue: job.queue, job_id: job.jobId });
      },
    });
    consumers.push(consumer);
    const { globalConcurrency } = definition;
    if (globalConcurrency !== null) capped.set(definition.name, { consumer, globalConcurrency });
  };
  /** Call it after all queues are served. */
  const joinFleet = (): Stoppable => {
    const membership = joinCluster({
      connection: producerRedis,
      prefix: settings.REDIS_PREFIX,
      queues: [...capped.keys()],
      onCount: (queue, processes) => {
        const known = capped.get(queue);
        if (known) known.consumer.setConcurrency(Math.max(1, Math.ceil(known.globalConcurrency / processes)));
      },
    });
    return { name: 'fleet', stop: membership.close };
  };

  /** Stopped last: everything else may still need them. */
  const servers: Stoppable[] = [
    { name: 'database', stop: closeDatabase },
    {
      name: 'redis',
      stop: async () => {
        pages.close();
        await producer.close();
        producerRedis.disconnect();
        consumerRedis.disconnect();
      },
    },
  ];
  /** Stopped first. */
  const serving: Stoppable = {
    name: 'consumers',
    stop: async () => void (await Promise.all(consumers.map((consumer) => consumer.close()))),
  };

  const redisAnswers = pingRedis(producerRedis);
  const ready = async () => {
    const [postgres, redis] = await Promise.all([
      pingDatabase(db)().then(
        () => 'ok' as const,
        () => 'unreachable' as const,
      ),
      redisAnswers().then((answers) => (answers ? ('ok' as const) : ('unreachable' as const))),
    ]);
    const ok = postgres === 'ok' && !stopping.aborted;
    const status = stopping.aborted ? 'stopping' : !ok ? 'unavailable' : redis === 'ok' ? 'ok' : 'degraded';
    return { ok, status, postgres, redis, queues: consumers.map((consumer) => consumer.name) };
  };

  const scrape = async () => {
    metrics.degraded.set((await redisAnswers()) ? 0 : 1);
    return { type: metrics.registry.contentType, text: await metrics.registry.metrics() };
  };

  const publishChange = pages.publish;
  return {
    settings,
    log,
    now,
    metrics,
    db,
    producer,
    producerRedis,
    publishChange,
    serve,
    joinFleet,
    serving,
    servers,
    ready,
    scrape,
  };
};
