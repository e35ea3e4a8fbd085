import type { IRouter } from 'express';
import type { Gates } from '../http/call.js';
import { resource } from '../http/resource.js';
import { refuseTestKey } from '../middleware/authenticate.js';
import { jsonBody, noBody } from '../middleware/body.js';
import { type BatchRoutesDeps, batchRoutes } from './batches.js';
import { type CheckRoutesDeps, checkRoutes } from './checks.js';
import { type StatusDeps, showStatus } from './health.js';
import { type EvidenceRoutesDeps, mountEvidenceRoutes } from './mount-evidence-routes.js';
import { type RequestDeps, showRequest, showUsage, type UsageDeps } from './requests.js';
import { type WatchRoutesDeps, watchRoutes } from './watches.js';
import { type DeliveryRoutesDeps, deliveryRoutes, type WebhookRoutesDeps, webhookRoutes } from './webhook.js';

export type CustomerRoutesDeps = BatchRoutesDeps &
  CheckRoutesDeps &
  DeliveryRoutesDeps &
  EvidenceRoutesDeps &
  RequestDeps &
  StatusDeps &
  UsageDeps &
  WatchRoutesDeps &
  WebhookRoutesDeps;

/**
 * What a customer can read and start, below `prefix`: the public API serves it to keys (`/v1`), the dashboard the same
 * handlers to sessions (`/app/api`), so that the two cannot disagree. Every gate leaves a caller behind.
 */
export const mountCustomerRoutes = (
  app: IRouter,
  prefix: string,
  deps: CustomerRoutesDeps,
  { reading, changing }: Gates,
): void => {
  const at: typeof resource = (router, path, methods) => resource(router, `${prefix}${path}`, methods);

  const checks = checkRoutes(deps);
  at(app, '/checks', { get: [...reading, checks.list], post: [...changing, jsonBody, checks.create] });
  at(app, '/checks/:id', { get: [...reading, checks.show] });
  at(app, '/checks/:id/evidence', { get: [...reading, checks.evidence] });
  at(app, '/requests/:id', { get: [...reading, showRequest(deps)] });
  mountEvidenceRoutes(app, prefix, deps, { reading, changing });
  const readingLive = [...reading, refuseTestKey];
  const changingLive = [...changing, refuseTestKey];
  const batches = batchRoutes(deps);
  at(app, '/batches', { get: [...readingLive, batches.list], post: [...changingLive, batches.create] });
  at(app, '/batches/:id', { get: [...readingLive, batches.show], delete: [...changingLive, batches.remove] });
  at(app, '/batches/:id/lines', { get: [...readingLive, batches.listLines] });
  at(app, '/batches/:id/results.csv', { get: [...readingLive, batches.results] });
  const watches = watchRoutes(deps);
  at(app, '/watches', { get: [...readingLive, watches.list], post: [...changingLive, jsonBody, watches.create] });
  at(app, '/watches/:id', {
    get: [...readingLive, watches.show],
    patch: [...changingLive, jsonBody, watches.change],
    delete: [...changingLive, watches.remove],
  });
  at(app, '/watches/:id/changes', { get: [...readingLive, watches.listChanges] });
  at(app, '/webhook/test', { post: [...changing, ...noBody, webhookRoutes(deps).test] });
  const deliveries = deliveryRoutes(deps);
  at(app, '/webhook/deliveries', { get: [...reading, deliveries.list] });
  at(app, '/webhook/deliveries/:id', { get: [...reading, deliveries.show] });
  at(app, '/webhook/deliveries/:id/resend', { post: [...changing, ...noBody, deliveries.resend] });
  at(app, '/usage', { get: [...reading, showUsage(deps)] });
  at(app, '/status', { get: [...reading, showStatus(deps)] });
};
