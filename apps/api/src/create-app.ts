import type { RequestListener } from 'node:http';
import { AppError } from '@vat/domain';
import { type Logger, type Metrics, readAsSetting, type Tracing, throttledLog } from '@vat/runtime';
import express, { type Router } from 'express';
import { type DashboardDeps, mountDashboard } from './dashboard/mount-dashboard.js';
import { servePages } from './dashboard/serve-pages.js';
import { shedSignIns } from './dashboard/shed-sign-ins.js';
import { reportUntrustedProxy, trustsProxyOf } from './http/client-network.js';
import { readQuery } from './http/parse.js';
import { resource } from './http/resource.js';
import { type AuthenticateDeps, authenticate } from './middleware/authenticate.js';
import { type LimitKeyRateDeps, limitKeyRate } from './middleware/limit-rate.js';
import { refuseBrokenHeaders, requestId, sendError, withPath } from './middleware/request.js';
import { mountPublicStatus } from './public-status/mount-public-status.js';
import {
  mountPublicVerification,
  type PublicVerificationDeps,
} from './public-verification/mount-public-verification.js';
import { docsRoutes, showOpenApi } from './routes/documentation.js';
import { type HealthDeps, healthRoutes } from './routes/health.js';
import { type CustomerRoutesDeps, mountCustomerRoutes } from './routes/mount-customer-routes.js';
import { mountUnsubscribe, type UnsubscribeDeps } from './unsubscribe/mount-unsubscribe.js';

type AppDeps = AuthenticateDeps &
  CustomerRoutesDeps &
  HealthDeps &
  LimitKeyRateDeps &
  Omit<PublicVerificationDeps, 'pagesFolder'> &
  UnsubscribeDeps & {
    log: Logger;
    metrics: Metrics;
    tracing: Tracing | null;
    dashboard: DashboardDeps;
    /** What is below /ops; null when the operator has not opened it. */
    ops: Router | null;
    /** Whether /status is open to everybody. */
    publicStatus: boolean;
    /** Addresses and CIDRs whose X-Forwarded-For is believed. */
    trustedProxies: readonly string[];
  };

/**
 * The HTTP interface with all routes. Throws SettingsError. Expects one request of a connection at a time, which
 * `guardConnections` ensures.
 */
export const createApp = (deps: AppDeps): RequestListener => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', readQuery);
  readAsSetting(() => app.set('trust proxy', [...deps.trustedProxies]), 'TRUSTED_PROXIES');
  const trustsProxy = trustsProxyOf(app);
  app.use(requestId(deps));
  app.use(reportUntrustedProxy(deps.log, trustsProxy));
  app.use(refuseBrokenHeaders);

  const health = healthRoutes(deps);
  resource(app, '/healthz', { get: [health.live] });
  resource(app, '/readyz', { get: [health.ready] });
  resource(app, '/metrics', { get: [health.scrape] });

  const docs = docsRoutes();
  resource(app, '/v1/openapi.json', { get: [showOpenApi(deps.baseUrl)] });
  resource(app, '/docs', { get: docs.page });
  resource(app, '/docs/start.js', { get: docs.start });
  app.use('/docs', ...docs.assets);

  if (deps.ops) app.use('/ops', deps.ops);
  if (deps.publicStatus) mountPublicStatus(app, deps);
  mountPublicVerification(app, { ...deps, pagesFolder: deps.dashboard.pagesFolder });

  mountUnsubscribe(app, deps);

  const key = [authenticate(deps), limitKeyRate(deps)];
  mountCustomerRoutes(app, '/v1', deps, { reading: key, changing: key });

  mountDashboard(app, { ...deps, ...deps.dashboard });
  // There are no pages below /app/api: an unknown path there gets the usual 404, in any case, as routes match in any.
  app.use(/^\/app(?!\/api(\/|$))/i, servePages(deps.dashboard));

  app.use(() => {
    throw new AppError('NOT_FOUND', { message: 'There is no such path.' });
  });
  app.use(sendError);

  const onShed = throttledLog((fields) => deps.log.warn('Sign-ins are refused: too many arrive.', fields), deps.now);
  const listener = shedSignIns(app, {
    refuse: deps.dashboard.refuseSignIn,
    trustsProxy,
    metrics: deps.metrics,
    onShed: () => onShed({}),
    now: deps.now,
  });
  return withPath(listener);
};
