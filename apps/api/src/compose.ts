import { randomBytes, randomUUID } from 'node:crypto';
import { presentWatch } from '@vat/contracts';
import {
  acceptRequest,
  admitRequest,
  changeWatch,
  connectDatabase,
  createWatch,
  deleteWatch,
  findApiKey,
  findCheck,
  findDelivery,
  findIdempotencyKey,
  findRequest,
  findUsage,
  findWatch,
  findWebhook,
  listChanges,
  listChecks,
  listDeliveries,
  listWatches,
  pingDatabase,
  queueDepths,
  readMinutes,
  recordMalformed,
  relockIdempotencyKey,
  resendDelivery,
  sendTestEvent,
  storeIdempotentAnswer,
  touchApiKey,
} from '@vat/db';
import {
  type DueDelivery,
  MAX_ON_DEMAND_DELIVERIES,
  publicId,
  requestCheck,
  requestWatch,
  TEST_POLICY,
  type UpstreamPolicy,
} from '@vat/domain';
import { hashCheck, readVerifierProgram } from '@vat/evidence';
import {
  connectRedis,
  createProducer,
  createRateLimiter,
  enqueueDelivery,
  enqueueDispatches,
  enqueueStamp,
  lookupQueueOf,
  pingRedis,
  publishPageUpdates,
  subscribeNotifications,
  subscribePageUpdates,
} from '@vat/queues';
import { createMetrics, errorFields, type Logger, type readSettings, throttledWarn } from '@vat/runtime';
import { composeBatches } from './compose-batches.js';
import { composeEvidence, EVIDENCE_SETTINGS } from './compose-evidence.js';
import { createApp } from './create-app.js';
import { composeDashboard, DASHBOARD_SETTINGS } from './dashboard/compose-dashboard.js';
import { jsonAnswer } from './http/answer.js';
import type { CallRate } from './middleware/limit-rate.js';
import { composeOps, OPS_SETTINGS } from './ops/compose-ops.js';
import { requestNotifier } from './request-notifier.js';
import { keyedMutex } from './turns.js';

/** The settings an API process reads. */
export const API_SETTINGS = [
  'PORT',
  'HOST',
  'BASE_URL',
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_PREFIX',
  'UPSTREAM_WINDOW',
  'UPSTREAM_RETRY_DELAYS',
  'BACKPRESSURE_AFTER',
  'BACKGROUND_RETRY_DELAYS',
  'BACKGROUND_GIVE_UP_AFTER',
  'RATE_LIMIT',
  'SESSION_RATE_LIMIT',
  'MAX_CONNECTIONS',
  'RESPONSE_STALL_TIMEOUT',
  'TRUSTED_PROXIES',
  'LOG_LEVEL',
  ...DASHBOARD_SETTINGS,
  ...EVIDENCE_SETTINGS,
  ...OPS_SETTINGS,
] as const;
type ApiSettings = ReturnType<typeof readSettings<(typeof API_SETTINGS)[number]>>;

/** Below the two seconds within which a caller hears that Postgres is away. */
const QUERY_TIMEOUT_MS = 1_500;

/** What fails after that has hung. A little less, since timers are not exact. */
const HUNG_AFTER_MS = QUERY_TIMEOUT_MS - 100;

/** What goes on being wrong is said again after this long. */
const REPEAT_WARNING_MS = 30_000;

/** How early a call may be and still be held instead of refused: the jitter of a caller that keeps to the limit. */
const RATE_HOLD_MS = 80;

/** Puts an API process together. `baseUrl` is asked late: the port is known only once it is bound. */
export const compose = (settings: ApiSettings, log: Logger, stopping: AbortSignal, baseUrl: () => string) => {
  const metrics = createMetrics('api');
  const {
    db,
    warmed,
    close: closeDatabase,
  } = connectDatabase({
    url: settings.DATABASE_URL,
    maxConnections: 20,
    keepOpen: 20,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    connectTimeoutMs: QUERY_TIMEOUT_MS,
    applicationName: 'vat-api',
  });
  const onRedisError = throttledWarn(log, 'Redis is away.', REPEAT_WARNING_MS, () => new Date());
  const redis = connectRedis(settings.REDIS_URL, 'producer', onRedisError);
  const notificationRedis = connectRedis(settings.REDIS_URL, 'consumer', onRedisError);
  const producer = createProducer(redis, settings.REDIS_PREFIX);

  const apiId = randomUUID();
  const news = requestNotifier(stopping);
  subscribeNotifications(notificationRedis, settings.REDIS_PREFIX, apiId, news.hint);

  const livePolicy: UpstreamPolicy = {
    windowMs: settings.UPSTREAM_WINDOW,
    windowRetryDelaysMs: settings.UPSTREAM_RETRY_DELAYS,
    backgroundRetryDelaysMs: settings.BACKGROUND_RETRY_DELAYS,
    giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
    backpressureAfterMs: settings.BACKPRESSURE_AFTER,
  };
  const now = () => new Date();
  const onLimiterAlone = throttledWarn(log, 'The rate limit counts per process for now.', REPEAT_WARNING_MS, now);
  const callRate = (calls: number): CallRate => {
    const limiter = createRateLimiter({
      connection: redis,
      prefix: settings.REDIS_PREFIX,
      limit: { calls, windowMs: 1_000, holdMs: RATE_HOLD_MS },
      onAlone: (error) => {
        metrics.rateLimitAlone.inc();
        onLimiterAlone(error);
      },
    });
    return { calls, judge: limiter.judge };
  };
  const find = findRequest(db);
  const pages = publishPageUpdates(redis, settings.REDIS_PREFIX);
  const dashboard = composeDashboard(settings, {
    db,
    subscribe: (onUpdates) => subscribePageUpdates(notificationRedis, settings.REDIS_PREFIX, onUpdates),
    baseUrl,
    stopping,
    hungAfterMs: HUNG_AFTER_MS,
    userRate: callRate(settings.SESSION_RATE_LIMIT),
    now,
  });
  const onBoardError = throttledWarn(log, 'The page about the queues cannot read them.', REPEAT_WARNING_MS, now);
  const ops = composeOps(settings, { db, redis, baseUrl, onError: onBoardError, now });
  const accept = acceptRequest(db);
  const acceptSerially = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const record = recordMalformed(db);
  const create = createWatch(db);
  const change = changeWatch(db);
  const watchSerially = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const sendTest = sendTestEvent(db, MAX_ON_DEMAND_DELIVERIES);
  const resend = resendDelivery(db, MAX_ON_DEMAND_DELIVERIES);
  const onDemandInTurn = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });

  const addDelivery = enqueueDelivery(producer);
  const batches = composeBatches({
    db,
    log,
    feed: enqueueDispatches(producer),
    enqueueDelivery: addDelivery,
    onEnqueueFailure: (error) => log.warn('Work of a batch was not enqueued; the sweep will.', errorFields(error)),
    giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
  });

  const addStamp = enqueueStamp(producer);
  const evidence = composeEvidence({
    settings,
    db,
    enqueueStamp: (stamp) =>
      addStamp(stamp).catch((error: unknown) =>
        log.warn('A time-stamp was not enqueued; the sweep will.', errorFields(error)),
      ),
    log,
    now,
  });

  const app = createApp({
    log,
    dashboard: dashboard.deps,
    ops: ops.routes,
    publishChange: pages.tell,
    trustedProxies: settings.TRUSTED_PROXIES,
    metrics,
    now,
    baseUrl,
    stopping,
    findKey: findApiKey(db),
    touchKey: touchApiKey(db),
    pingDatabase: pingDatabase(db),
    pingRedis: pingRedis(redis),
    findRequest: find,
    keyRate: callRate(settings.RATE_LIMIT),
    readMinutes: readMinutes(db),
    queueDepths: queueDepths(db),
    findCheck: findCheck(db),
    listChecks: listChecks(db),
    findUsage: findUsage(db),
    findWebhook: findWebhook(db),
    sendTestEvent: (test) => onDemandInTurn(test.accountId, () => sendTest(test)),
    listDeliveries: listDeliveries(db),
    findDelivery: findDelivery(db),
    resendDelivery: (wanted) => onDemandInTurn(wanted.reader.accountId, () => resend(wanted)),
    enqueueDelivery: (delivery: DueDelivery) => {
      pages.tell(delivery.accountId, 'deliveries', publicId('delivery', delivery.id));
      return addDelivery(delivery).catch((error: unknown) =>
        log.warn('A delivery was not enqueued; the sweep will.', errorFields(error)),
      );
    },
    storeAnswer: storeIdempotentAnswer(db),
    ...batches.deps,
    ...evidence.deps,
    listWatches: listWatches(db),
    findWatch: findWatch(db),
    listChanges: listChanges(db),
    changeWatch: (id, accountId, amend) => watchSerially(accountId, () => change(id, accountId, amend)),
    deleteWatch: deleteWatch(db),
    requestWatch: requestWatch({
      findKey: findIdempotencyKey(db),
      create: (watch, ...rest) => watchSerially(watch.accountId, () => create(watch, ...rest)),
      answerOf: (watch) =>
        jsonAnswer(201, presentWatch(watch), { Location: `${baseUrl()}/v1/watches/${publicId('watch', watch.id)}` }),
      now,
    }),
    readVerifier: readVerifierProgram,
    requestCheck: requestCheck({
      find,
      accept: async (acceptance) => {
        const { id, accountId } = acceptance;
        const accepted = await acceptSerially(accountId, () => accept(acceptance));
        if (accepted.kind === 'accepted') pages.tell(accountId, 'requests', publicId('request', id));
        return accepted;
      },
      admit: admitRequest(db),
      recordMalformed: async (malformed) => {
        const isNew = await record(malformed);
        if (isNew) pages.tell(malformed.request.accountId, 'checks', publicId('check', malformed.check.id));
        return isNew;
      },
      findKey: findIdempotencyKey(db),
      relockKey: relockIdempotencyKey(db),
      hashCheck,
      newSalt: () => randomBytes(16).toString('hex'),
      policyOf: (test) => (test ? TEST_POLICY : livePolicy),
      openSubscription: news.open,
      enqueueLookup: (request) =>
        producer.enqueue({ definition: lookupQueueOf(request), payload: { request_id: request.id, reply_to: apiId } }),
      demoteLookup: (request) => producer.reclassify(lookupQueueOf(request), { request_id: request.id }, 'background'),
      onEnqueueFailure: (error) => log.warn('A request was not enqueued; the sweep will.', errorFields(error)),
      now,
      stopping,
    }),
  });

  const close = async () => {
    news.close();
    dashboard.close();
    pages.close();
    await ops.close();
    await producer.close();
    redis.disconnect();
    notificationRedis.disconnect();
    await batches.close();
    await evidence.close();
    await closeDatabase();
  };
  return { app, metrics, warmed, close };
};
