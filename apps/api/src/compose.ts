import {
  changeMailChoice,
  explainDatabaseFailure,
  findApiKey,
  findCheckOfAnyAccount,
  findPublicLinkKey,
  pingDatabase,
  readHours,
  readMinutes,
  readWaits,
  storePublicLinkKey,
  touchApiKey,
} from '@vat/db';
import { openPublicLinkKey, publicLinks, unsubscribeLinks } from '@vat/domain';
import { readVerifierProgram } from '@vat/evidence';
import { createRateLimiter, pingRedis, readDownStates, subscribePageUpdates } from '@vat/queues';
import { errorFields, type Logger, type SettingsOf, type Tracing, throttledWarn } from '@vat/runtime';
import { type ApiContext, createApiContext, HUNG_AFTER_MS } from './api-context.js';
import { cached } from './cached.js';
import { composeBatches } from './compose-batches.js';
import { composeChecks } from './compose-checks.js';
import { composeEvents } from './compose-events.js';
import { composeEvidence } from './compose-evidence.js';
import { composeWatches } from './compose-watches.js';
import { composeWebhooks } from './compose-webhooks.js';
import { createApp } from './create-app.js';
import { composeDashboard } from './dashboard/compose-dashboard.js';
import type { CallRate } from './middleware/limit-rate.js';
import { composeOps } from './ops/compose-ops.js';
import type { PublicVerificationDeps } from './public-verification/mount-public-verification.js';
import type { CheckRoutesDeps } from './routes/checks.js';
import { readHistory } from './routes/status-history.js';
import { sharePageUpdates } from './share-page-updates.js';
import type { UnsubscribeDeps } from './unsubscribe/mount-unsubscribe.js';

/** A call that is this many milliseconds early is delayed, not refused: the jitter of a caller that respects the limit. */
const RATE_HOLD_MS = 80;

/** Makes limits of calls per second that all API processes count together; while Redis is away, each process counts alone. */
const createCallRates = (
  prefix: string,
  { redis, metrics, log, now }: Pick<ApiContext, 'redis' | 'metrics' | 'log' | 'now'>,
) => {
  const warnAlone = throttledWarn(log, 'Rate limits are counted per process while Redis is away.', now);
  return (calls: number): CallRate => {
    const limiter = createRateLimiter({
      connection: redis,
      prefix,
      limit: { calls, windowMs: 1_000, holdMs: RATE_HOLD_MS },
      onAlone: (error) => {
        metrics.rateLimitAlone.inc();
        warnAlone(error);
      },
    });
    return { calls, count: limiter.admit };
  };
};

/** Calls of one network to the public pages of checks in any second. A view needs two. */
const PUBLIC_CALLS_PER_SECOND = 20;

/**
 * Makes and reads public links, and reads those that turn e-mail off. While PUBLIC_VERIFICATION is off, no public link is made and
 * none opens a check.
 */
const composePublicLinks = (
  settings: SettingsOf<'api', 'PUBLIC_VERIFICATION'>,
  readKey: () => Promise<Uint8Array>,
  baseUrl: () => string,
): Pick<CheckRoutesDeps, 'publicLinkOf'> &
  Pick<PublicVerificationDeps, 'checkOfLink'> &
  Pick<UnsubscribeDeps, 'readUnsubscribeLink'> => {
  const links = publicLinks(readKey);
  const readUnsubscribeLink = unsubscribeLinks(readKey).read;
  return settings.PUBLIC_VERIFICATION === 'off'
    ? { readUnsubscribeLink, publicLinkOf: null, checkOfLink: () => Promise.resolve(null) }
    : {
        readUnsubscribeLink,
        publicLinkOf: async (id) => `${baseUrl()}${await links.pathOf(id)}`,
        checkOfLink: links.checkOf,
      };
};

/** Composes an API process from its features. `baseUrl` is called only once the server listens. */
export const compose = (
  settings: SettingsOf<'api'>,
  { log, tracing }: { log: Logger; tracing: Tracing | null },
  stopping: AbortSignal,
  baseUrl: () => string,
) => {
  const { context, warmed, flushPageUpdates, closeRedis, closeDatabase } = createApiContext(settings, {
    log,
    tracing,
    stopping,
    baseUrl,
  });
  const { db, redis, subscriberRedis, publishChange, metrics, now } = context;
  const callRate = createCallRates(settings.REDIS_PREFIX, context);
  const subscribeToPageUpdates = sharePageUpdates((onUpdates) =>
    subscribePageUpdates(subscriberRedis, settings.REDIS_PREFIX, onUpdates),
  );

  const checks = composeChecks(settings, context);
  const linkKey = cached(
    openPublicLinkKey({
      find: findPublicLinkKey(db),
      store: storePublicLinkKey(db),
      masterKey: settings.SECRET_KEY,
      previousKey: settings.SECRET_KEY_PREVIOUS,
    }),
    Number.POSITIVE_INFINITY,
  );
  const readLinkKey = () => linkKey(now());
  // Read at the start, so that a wrong SECRET_KEY is logged before the first link or delivery fails.
  warmed
    .then(findPublicLinkKey(db))
    .then((stored) => stored && readLinkKey())
    .catch((error: unknown) => {
      // What is wrong with Postgres is logged already.
      if (stopping.aborted || explainDatabaseFailure(error) !== null) return;
      log.error('The key of public links cannot be read.', errorFields(error));
    });
  const dashboard = composeDashboard(settings, {
    db,
    readLinkKey,
    publishChange,
    subscribe: subscribeToPageUpdates,
    baseUrl,
    stopping,
    hungAfterMs: HUNG_AFTER_MS,
    userRate: callRate(settings.SESSION_RATE_LIMIT),
    now,
  });
  const onError = throttledWarn(log, 'The operations page cannot read the queues.', now);
  const ops = composeOps(settings, { db, redis, baseUrl, onError, now });
  const downStates = readDownStates(redis, settings.REDIS_PREFIX);
  const batches = composeBatches({ ...context, readDownStates: downStates });
  const evidence = composeEvidence(settings, context);
  const events = composeEvents(context, subscribeToPageUpdates);

  const verifier = cached(readVerifierProgram, Number.POSITIVE_INFINITY);
  const app = createApp({
    log,
    metrics,
    tracing,
    now,
    baseUrl,
    stopping,
    trustedProxies: settings.TRUSTED_PROXIES,
    findKey: findApiKey(db),
    touchKey: touchApiKey(db),
    keyRate: callRate(settings.RATE_LIMIT),
    pingDatabase: pingDatabase(db),
    pingRedis: pingRedis(redis),
    readMinutes: readMinutes(db),
    readWaits: readWaits(db),
    readDownStates: downStates,
    readHistory: readHistory({ readHours: readHours(db), now }),
    publicStatus: settings.PUBLIC_STATUS === 'on',
    ...composePublicLinks(settings, readLinkKey, baseUrl),
    changeMailChoice: changeMailChoice(db),
    networkRate: callRate(PUBLIC_CALLS_PER_SECOND),
    findCheckOfAnyAccount: findCheckOfAnyAccount(db),
    anchorEveryMs: settings.ANCHOR_EVERY,
    readVerifier: () => verifier(now()),
    ...checks.deps,
    ...composeWebhooks(context),
    ...batches.deps,
    ...evidence.deps,
    ...events.deps,
    ...composeWatches(context),
    dashboard: dashboard.deps,
    ops: ops.routes,
  });

  const close = async () => {
    checks.close();
    events.close();
    await dashboard.close();
    flushPageUpdates();
    await ops.close();
    await closeRedis();
    await batches.close();
    await evidence.close();
    await closeDatabase();
  };
  return { app, metrics, warmed, close };
};
