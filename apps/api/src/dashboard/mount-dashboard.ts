import type { IRouter } from 'express';
import { resource } from '../http/resource.js';
import { jsonBody } from '../middleware/json-body.js';
import { type CustomerRoutesDeps, mountCustomerRoutes } from '../routes/mount-customer-routes.js';
import { callAsCustomer } from './call-as-customer.js';
import { type KeyRoutesDeps, keyRoutes } from './key-routes.js';
import { requireCsrf } from './require-csrf.js';
import { requireSameOrigin } from './require-same-origin.js';
import { type RequireSessionDeps, requireSession } from './require-session.js';
import { secureAnswers } from './secure-answers.js';
import type { ServePagesDeps } from './serve-pages.js';
import { type SessionRoutesDeps, sessionRoutes } from './session-routes.js';
import { type WebhookSettingsDeps, webhookSettings } from './webhook-settings.js';

export type DashboardDeps = RequireSessionDeps &
  SessionRoutesDeps &
  WebhookSettingsDeps &
  KeyRoutesDeps &
  ServePagesDeps & { baseUrl: () => string };

/**
 * The dashboard's own JSON API: settings, which only a session can change, and what keys can do under `/v1`. Judged in this order: 404 or 405, 401 without a session, 403 without its CSRF token, 400
 * for the body.
 */
export const mountDashboard = (app: IRouter, deps: DashboardDeps & CustomerRoutesDeps): void => {
  app.use('/app/api', secureAnswers);
  const sameOrigin = requireSameOrigin(deps.baseUrl);
  const reading = [requireSession(deps)];
  const changing = [...reading, sameOrigin, requireCsrf(deps.tokens)];

  mountCustomerRoutes(app, '/app/api', deps, {
    reading: [...reading, callAsCustomer],
    changing: [...changing, callAsCustomer],
  });

  const session = sessionRoutes(deps);
  resource(app, '/app/api/session', {
    get: [...reading, session.show],
    post: [sameOrigin, jsonBody, session.create],
    delete: [...changing, session.end],
  });

  const webhook = webhookSettings(deps);
  resource(app, '/app/api/webhook', {
    get: [...reading, webhook.show],
    put: [...changing, jsonBody, webhook.save],
    delete: [...changing, webhook.remove],
  });

  const keys = keyRoutes(deps);
  resource(app, '/app/api/keys', { get: [...reading, keys.list], post: [...changing, jsonBody, keys.create] });
  resource(app, '/app/api/keys/:id', { delete: [...changing, keys.revoke] });
};
