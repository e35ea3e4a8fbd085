import { findApiKey, pingDatabase, readHours, readMinutes, readWaits, touchApiKey } from '@vat/db';
import { readVerifierProgram } from '@vat/evidence';
import { pingRedis, subscribePageUpdates } from '@vat/queues';
import { type Logger, type SettingsOf, throttledWarn } from '@vat/runtime';
import { createApiContext, HUNG_AFTER_MS, REPEAT_WARNING_MS } from './api-context.js';
import { composeBatches } from './compose-batches.js';
import { composeChecks } from './compose-checks.js';
import { composeEvidence } from './compose-evidence.js';
import { composeWatches } from './compose-watches.js';
import { composeWebhooks } from './compose-webhooks.js';
import { createApp } from './create-app.js';
import { createCallRates } from './create-call-rates.js';
import { composeDashboard } from './dashboard/compose-dashboard.js';
import { composeOps } from './ops/compose-ops.js';

/** Composes an API process from its features. `baseUrl` is called only once the server listens. */
export const compose = (settings: SettingsOf<'api'>, log: Logger, stopping: AbortSignal, baseUrl: () => string) => {
  const { context, warmed, flushPageUpdates, closeRedis, closeDatabase } = createApiContext(settings, {
    log,
    stopping,
    baseUrl,
  });
  const { db, redis, subscriberRedis, publishChange, metrics, now } = context;
  const callRate = createCallRates(settings.REDIS_PREFIX, context);

  const checks = composeChecks(settings, context);
  const dashboard = composeDashboard(settings, {
    db,
    publishChange,
    subscribe: (onUpdates) => subscribePageUpdates(subscriberRedis, settings.REDIS_PREFIX, onUpdates),
    baseUrl,
    stopping,
    hungAfterMs: HUNG_AFTER_MS,
    userRate: callRate(settings.SESSION_RATE_LIMIT),
    now,
  });
  const onError = throttledWarn(log, 'The operations page cannot read the queues.', REPEAT_WARNING_MS, now);
  const ops = composeOps(settings, { db, redis, baseUrl, onError, now });
  const batches = composeBatches(context);
  const evidence = composeEvidence(settings, context);

  const app = createApp({
    log,
    metrics,
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
    readHours: readHours(db),
    publicStatus: settings.PUBLIC_STATUS === 'on',
    publicLinkOf: null,
    readVerifier: readVerifierProgram,
    ...checks.deps,
    ...composeWebhooks(context),
    ...batches.deps,
    ...evidence.deps,
    ...composeWatches(context),
    dashboard: dashboard.deps,
    ops: ops.routes,
  });

  const close = async () => {
    checks.close();
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
