import { randomBytes } from 'node:crypto';
import {
  beginAsk,
  connectDatabase,
  deleteExpiredKeys,
  endRequest,
  findRequest,
  overdueRequests,
  pingDatabase,
  releaseOrphans,
  requestsToAbandon,
  settleRequest,
  slotKeeper,
  storeAsk,
} from '@vat/db';
import {
  type AskUpstream,
  type CheckRequest,
  ENRICHMENT_SOURCES,
  type EnrichmentSourceName,
  isMemberState,
  MEMBER_STATES,
  type MemberState,
  sweepRequests,
  TEST_POLICY,
  type UpstreamPolicy,
} from '@vat/domain';
import { createEnrichmentSources } from '@vat/enrichment';
import { hashCheck } from '@vat/evidence';
import {
  type Consumer,
  connectRedis,
  createProducer,
  enqueueOverdue,
  type JobHandler,
  keepRedisPrimed,
  maintenanceQueue,
  publishHint,
  type QueueDefinition,
  type RequestJob,
  sandboxQueue,
  settleQueue,
  startConsumer,
  upstreamQueue,
} from '@vat/queues';
import {
  createMetrics,
  errorFields,
  type Logger,
  type readSettings,
  SettingsError,
  type Stoppable,
  warnSparingly,
  withLogContext,
} from '@vat/runtime';
import { answerSandbox, createViesClient } from '@vat/vies';
import { createPacing } from './pacing.js';
import { askUpstream } from './processors/ask-upstream.js';
import { keepAnswer } from './processors/keep-answer.js';
import { recordCheck } from './processors/record-check.js';
import { settleCheck } from './processors/settle-check.js';
import { createRecordings } from './recordings.js';
import { splitVatNumber } from './split-vat-number.js';

/** The settings a worker process reads. */
export const WORKER_SETTINGS = [
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_PREFIX',
  'VIES_URL',
  'UPSTREAM_WINDOW',
  'UPSTREAM_ATTEMPT_TIMEOUT',
  'UPSTREAM_RETRY_DELAYS',
  'BACKPRESSURE_AFTER',
  'BACKGROUND_RETRY_DELAYS',
  'BACKGROUND_GIVE_UP_AFTER',
  'ENRICHMENT_SOURCES',
  'ENRICHMENT_TIMEOUT',
  'ENRICHMENT_PL_WHITE_LIST_URL',
  'ENRICHMENT_CZ_ARES_URL',
  'ENRICHMENT_RO_ANAF_URL',
  'ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL',
  'ENRICHMENT_FI_PRH_URL',
  'ENRICHMENT_DE_EVATR_URL',
  'ENRICHMENT_GLEIF_URL',
  'WORKER_QUEUES',
  'WORKER_MEMBER_STATES',
  'SWEEP_EVERY',
  'LOG_LEVEL',
  'METRICS_PORT',
  'HOST',
] as const;
export type WorkerSettings = ReturnType<typeof readSettings<(typeof WORKER_SETTINGS)[number]>>;

/** What goes on being wrong is said again after this long. */
const REPEAT_WARNING_MS = 30_000;
const REPEAT_JOB_WARNING_MS = 1_000;

/** What WORKER_QUEUES may name. Source: contract part 2 §2. */
const WORKER_ROLES = ['checks', 'webhooks', 'batches', 'watches', 'evidence', 'maintenance'] as const;
type WorkerRole = (typeof WORKER_ROLES)[number];

const chosen = <T extends string>(setting: string, values: string[], known: readonly T[]): T[] => {
  if (values.includes('all')) return [...known];
  const unknown = values.filter((value) => !(known as readonly string[]).includes(value));
  if (unknown.length > 0)
    throw new SettingsError(`${setting} names ${unknown.join(', ')}; known are ${known.join(', ')} and all.`);
  return known.filter((name) => values.includes(name));
};

const enrichmentOf = (settings: WorkerSettings): EnrichmentSourceName[] => {
  const names = settings.ENRICHMENT_SOURCES.split(',').map((name) => name.trim());
  return names.length === 1 && names[0] === 'none' ? [] : chosen('ENRICHMENT_SOURCES', names, ENRICHMENT_SOURCES);
};

/** Puts a worker process together and starts what it serves. Throws {@link SettingsError} on unknown names. */
export const compose = (settings: WorkerSettings, log: Logger, stopping: AbortSignal, cutAsks: AbortSignal) => {
  const roles = chosen<WorkerRole>('WORKER_QUEUES', settings.WORKER_QUEUES, WORKER_ROLES);
  const states = chosen<MemberState>(
    'WORKER_MEMBER_STATES',
    settings.WORKER_MEMBER_STATES.map((state) => (state === 'all' ? state : state.toUpperCase())),
    MEMBER_STATES.filter(isMemberState),
  );
  const metrics = createMetrics('worker');
  const { db, close: closeDatabase } = connectDatabase({
    url: settings.DATABASE_URL,
    maxConnections: 20,
    queryTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    applicationName: 'vat-worker',
  });
  const slots = slotKeeper(
    settings.DATABASE_URL,
    warnSparingly(log, 'The slot connection broke; open asks end.', REPEAT_WARNING_MS, () => new Date()),
  );
  const onJobError = warnSparingly(log, 'A job failed and was put back.', REPEAT_JOB_WARNING_MS, () => new Date());
  // Among others: a job went to another worker because this one stood still for longer than its lock, or Redis lost it.
  const onQueueError = warnSparingly(log, 'A queue had an error.', REPEAT_WARNING_MS, () => new Date());
  const onRedisError = warnSparingly(log, 'Redis is away.', REPEAT_WARNING_MS, () => new Date());
  const consumerRedis = connectRedis(settings.REDIS_URL, 'consumer', onRedisError);
  const producerRedis = connectRedis(settings.REDIS_URL, 'producer', onRedisError);
  const producer = createProducer(producerRedis, settings.REDIS_PREFIX);
  const vies = createViesClient({ baseUrl: settings.VIES_URL, attemptTimeoutMs: settings.UPSTREAM_ATTEMPT_TIMEOUT });
  const enrichment = createEnrichmentSources({
    enabled: enrichmentOf(settings),
    timeoutMs: settings.ENRICHMENT_TIMEOUT,
    now: () => new Date(),
    urls: Object.fromEntries(
      ENRICHMENT_SOURCES.flatMap((name) => {
        const url = settings[`ENRICHMENT_${name.toUpperCase()}_URL` as keyof WorkerSettings];
        return typeof url === 'string' ? [[name, url]] : [];
      }),
    ),
  });

  const livePolicy: UpstreamPolicy = {
    windowMs: settings.UPSTREAM_WINDOW,
    windowRetryDelaysMs: settings.UPSTREAM_RETRY_DELAYS,
    backgroundRetryDelaysMs: settings.BACKGROUND_RETRY_DELAYS,
    giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
    backpressureAfterMs: settings.BACKPRESSURE_AFTER,
  };
  const now = () => new Date();
  const find = findRequest(db);
  const end = endRequest(db);
  const publish = publishHint(producerRedis, settings.REDIS_PREFIX);
  /** Hints are lost without harm: the API polls. */
  const hint = (job: RequestJob) =>
    job.reply_to === undefined ? Promise.resolve() : publish(job.reply_to, job.request_id).catch(() => undefined);
  const recordings = createRecordings((error) =>
    log.warn('An answer was not stored; the sweep asks again.', errorFields(error)),
  );
  const enqueueSettle = (job: RequestJob) =>
    producer
      .enqueue({ definition: settleQueue, payload: job })
      .catch((error: unknown) => log.warn('A settlement was not enqueued; the sweep will.', errorFields(error)));

  const record = recordCheck({
    hashCheck,
    newSalt: () => randomBytes(16).toString('hex'),
    settleRequest: settleRequest(db),
    hint,
    now,
    log,
  });
  const keep = keepAnswer({ sources: enrichment.sources, storeAsk: storeAsk(db), recordCheck: record, enqueueSettle });

  const askVies = (request: CheckRequest, signal: AbortSignal): ReturnType<AskUpstream> =>
    vies.ask(
      {
        memberState: request.memberState,
        national: request.national,
        requester: request.requester === null || request.requesterDropped ? null : splitVatNumber(request.requester),
        trader: request.trader,
      },
      signal,
    );
  const askSandbox = (request: CheckRequest): ReturnType<AskUpstream> =>
    Promise.resolve({
      outcome: answerSandbox(
        request.national,
        {
          background: request.acceptedAt !== null,
          requester: request.requester === null ? null : splitVatNumber(request.requester),
          trader: request.trader,
        },
        request.memberState,
      ),
      exchange: {
        source: 'vies',
        startedAt: now(),
        durationMs: 0,
        request: { method: 'POST', url: 'sandbox:', headers: {}, body: new Uint8Array() },
        response: null,
        error: null,
      },
    });
  const asking = (memberState: MemberState | null): JobHandler<RequestJob> =>
    askUpstream({
      memberState,
      takeSlot: slots.take,
      pacing,
      beginAsk: beginAsk(db),
      findRequest: find,
      ask: memberState === null ? askSandbox : askVies,
      storeAsk: storeAsk(db),
      keepAnswer: keep,
      recordings,
      endRequest: end,
      enqueueSettle,
      hint,
      policyOf: (test) => (test ? TEST_POLICY : livePolicy),
      cutAsks,
      now,
      log,
      metrics,
    });
  const pacing = createPacing(now);
  const sweepOnce = sweepRequests({
    overdue: overdueRequests(db),
    toAbandon: requestsToAbandon(db),
    endRequest: end,
    releaseOrphans: releaseOrphans(db),
    enqueue: enqueueOverdue(producer),
    giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
    windowMs: settings.UPSTREAM_WINDOW,
    now,
  });
  const sweepNow = async (scope: { everything: boolean }): Promise<void> => {
    const swept = await sweepOnce(scope);
    for (const [action, n] of Object.entries(swept)) if (n > 0) metrics.swept.inc({ action }, n);
    if (swept.enqueued + swept.abandoned + swept.orphans > 0) log.info('Swept.', { ...swept, ...scope });
  };

  const consumers: Consumer[] = [];
  const serve = <P>(definition: QueueDefinition<P>, handle: JobHandler<P>) =>
    consumers.push(
      startConsumer(
        definition,
        (payload, context) =>
          withLogContext({ job_id: context.jobId, queue: definition.name }, () => handle(payload, context)),
        {
          connection: consumerRedis,
          prefix: settings.REDIS_PREFIX,
          stopping,
          onError: onQueueError,
          onJobError: (error, job) => {
            metrics.jobErrors.inc({ queue: job.queue });
            onJobError(error, { queue: job.queue, job_id: job.jobId });
          },
        },
      ),
    );

  if (roles.includes('checks')) {
    for (const memberState of states) serve(upstreamQueue(memberState), asking(memberState));
    serve(sandboxQueue, asking(null));
    serve(settleQueue, settleCheck({ findRequest: find, sources: enrichment.sources, recordCheck: record }));
  }
  if (roles.includes('maintenance')) {
    const expire = deleteExpiredKeys(db);
    serve(maintenanceQueue, async ({ task }) => {
      if (task === 'sweep') await sweepNow({ everything: false });
      else await expire(now());
      return undefined;
    });
  }
  const primed = keepRedisPrimed({
    connection: producerRedis,
    producer,
    prefix: settings.REDIS_PREFIX,
    capped: MEMBER_STATES.map(upstreamQueue),
    sweepEveryMs: settings.SWEEP_EVERY,
    onLoss: () => sweepNow({ everything: true }),
    onError: (error) => log.warn('Redis could not be primed; tried again.', errorFields(error)),
  });

  const parts: Stoppable[] = [
    { name: 'database', stop: closeDatabase },
    { name: 'slots', stop: slots.close },
    {
      name: 'outgoing connections',
      stop: async () => {
        await vies.close();
        enrichment.close();
      },
    },
    {
      name: 'redis',
      stop: async () => {
        await producer.close();
        producerRedis.disconnect();
        consumerRedis.disconnect();
      },
    },
    { name: 'priming', stop: primed.close },
    { name: 'recordings', stop: recordings.drain },
    { name: 'consumers', stop: async () => void (await Promise.all(consumers.map((consumer) => consumer.close()))) },
  ];
  const ready = async () => {
    const postgres = await pingDatabase(db)().then(
      () => 'ok' as const,
      () => 'unreachable' as const,
    );
    const redis = producerRedis.status === 'ready' ? ('ok' as const) : ('unreachable' as const);
    const ok = postgres === 'ok' && !stopping.aborted;
    const status = stopping.aborted ? 'stopping' : !ok ? 'unavailable' : redis === 'ok' ? 'ok' : 'degraded';
    return { ok, status, postgres, redis, queues: consumers.map((consumer) => consumer.name) };
  };
  return { parts, ready, metrics, roles, states };
};
