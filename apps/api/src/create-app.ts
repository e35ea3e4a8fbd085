import { AppError, type FindRequest } from '@vat/domain';
import type { Logger, Metrics } from '@vat/runtime';
import express, { type Express } from 'express';
import { type DashboardDeps, mountDashboard } from './dashboard/mount-dashboard.js';
import { resource } from './http/resource.js';
import { type AuthenticateDeps, authenticate } from './middleware/authenticate.js';
import { jsonBody } from './middleware/json-body.js';
import { type LimitRateDeps, limitRate } from './middleware/limit-rate.js';
import { requestId } from './middleware/request-id.js';
import { sendError } from './middleware/send-error.js';
import { type CheckRoutesDeps, checkRoutes } from './routes/checks.js';
import { type DeliveryRoutesDeps, deliveryRoutes } from './routes/deliveries.js';
import { docsRoutes } from './routes/docs.js';
import { type HealthDeps, healthRoutes } from './routes/health.js';
import { showOpenApi } from './routes/openapi.js';
import { showRequest } from './routes/requests.js';
import { type StatusDeps, showStatus } from './routes/status.js';
import { showUsage, type UsageDeps } from './routes/usage.js';
import { type WebhookRoutesDeps, webhookRoutes } from './routes/webhook.js';

export type AppDeps = AuthenticateDeps &
  CheckRoutesDeps &
  DeliveryRoutesDeps &
  HealthDeps &
  LimitRateDeps &
  StatusDeps &
  UsageDeps &
  WebhookRoutesDeps & { findRequest: FindRequest; log: Logger; metrics: Metrics; dashboard: DashboardDeps };

/** The HTTP interface: every route, in the order of judgement of contract part 2 §1. */
export const createApp = (deps: AppDeps): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(requestId(deps.log, deps.metrics));

  const health = healthRoutes(deps);
  resource(app, '/healthz', { get: [health.live] });
  resource(app, '/readyz', { get: [health.ready] });
  resource(app, '/metrics', { get: [health.scrape] });

  const docs = docsRoutes();
  resource(app, '/v1/openapi.json', { get: [showOpenApi(deps.baseUrl)] });
  resource(app, '/docs', { get: docs.page });
  resource(app, '/docs/start.js', { get: docs.start });
  app.use('/docs', ...docs.assets);

  const key = [authenticate(deps), limitRate(deps)];
  const checks = checkRoutes(deps);
  resource(app, '/v1/checks', { get: [...key, checks.list], post: [...key, jsonBody, checks.create] });
  resource(app, '/v1/checks/:id', { get: [...key, checks.show] });
  resource(app, '/v1/checks/:id/evidence', { get: [...key, checks.evidence] });
  resource(app, '/v1/requests/:id', { get: [...key, showRequest(deps.findRequest)] });
  const webhook = webhookRoutes(deps);
  resource(app, '/v1/webhook', { get: [...key, webhook.show] });
  resource(app, '/v1/webhook/test', { post: [...key, webhook.test] });
  const deliveries = deliveryRoutes(deps);
  resource(app, '/v1/webhook/deliveries', { get: [...key, deliveries.list] });
  resource(app, '/v1/webhook/deliveries/:id', { get: [...key, deliveries.show] });
  resource(app, '/v1/webhook/deliveries/:id/resend', { post: [...key, deliveries.resend] });
  resource(app, '/v1/usage', { get: [...key, showUsage(deps)] });
  resource(app, '/v1/status', { get: [...key, showStatus(deps)] });

  mountDashboard(app, deps.dashboard);

  app.use(() => {
    throw new AppError('NOT_FOUND', { message: 'There is no such path.' });
  });
  app.use(sendError);
  return app;
};
