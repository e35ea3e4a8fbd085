import type { IRouter } from 'express';
import { resource } from '../http/resource.js';
import { secure } from '../http/secure.js';
import { jsonBody } from '../middleware/body.js';
import { type LimitUserRateDeps, limitUserRate } from '../middleware/limit-rate.js';
import { type CustomerRoutesDeps, mountCustomerRoutes } from '../routes/mount-customer-routes.js';
import { type AccountReadingsDeps, accountReadings, type KeyRoutesDeps, keyRoutes } from './account-routes.js';
import { type StreamPageUpdatesDeps, streamPageUpdates } from './page-streams.js';
import type { ServePagesDeps } from './serve-pages.js';
import {
  callAsCustomer,
  findOwnSession,
  type RequireSessionDeps,
  requireCsrf,
  requireSameOrigin,
  requireSession,
} from './session.js';
import { type SessionRoutesDeps, sessionRoutes } from './session-routes.js';
import type { ShedSignInsDeps } from './shed-sign-ins.js';
import { type WebhookSettingsDeps, webhookSettings } from './webhook-settings.js';

export type DashboardDeps = RequireSessionDeps &
  LimitUserRateDeps &
  SessionRoutesDeps &
  WebhookSettingsDeps &
  KeyRoutesDeps &
  AccountReadingsDeps &
  StreamPageUpdatesDeps &
  ServePagesDeps & {
    baseUrl: () => string;
    /** The error with which a sign-in is refused at once, see {@link shedSignIns}. */
    refuseSignIn: ShedSignInsDeps['refuse'];
  };

/**
 * The dashboard's own JSON API: settings, which only a session can change, and what keys can do under `/v1`. Errors are reported in
 * this order: 404 or 405, 401 without a session, 429 for its rate, 403 without its CSRF token, 400 for the body.
 */
export const mountDashboard = (app: IRouter, deps: DashboardDeps & CustomerRoutesDeps): void => {
  app.use('/app/api', secure('answers'));
  const sameOrigin = requireSameOrigin(deps.baseUrl);
  const limitRate = limitUserRate(deps);
  const reading = [requireSession(deps), limitRate];
  const changing = [...reading, sameOrigin, requireCsrf(deps.tokens)];

  mountCustomerRoutes(app, '/app/api', deps, {
    reading: [...reading, callAsCustomer],
    changing: [...changing, callAsCustomer],
  });

  const session = sessionRoutes(deps);
  resource(app, '/app/api/session', {
    get: [...reading, session.show],
    post: [sameOrigin, jsonBody, session.signIn],
    delete: [...changing, session.signOut],
  });

  resource(app, '/app/api/config', { get: [findOwnSession(deps), limitRate, session.config] });
  // Closed, it is not there.
  if (deps.signup === 'open') resource(app, '/app/api/sign-up', { post: [sameOrigin, jsonBody, session.signUp] });

  resource(app, '/app/api/password', { put: [...changing, jsonBody, session.changePassword] });
  resource(app, '/app/api/sessions', { delete: [...changing, session.signOutEverywhere] });

  const account = accountReadings(deps);
  resource(app, '/app/api/overview', { get: [...reading, account.overview] });
  resource(app, '/app/api/requests', { get: [...reading, account.requests] });
  resource(app, '/app/api/news', { get: [...reading, streamPageUpdates(deps)] });

  const webhook = webhookSettings(deps);
  resource(app, '/app/api/settings', { get: [...reading, webhook.settings] });
  resource(app, '/app/api/webhook', {
    get: [...reading, webhook.show],
    put: [...changing, jsonBody, webhook.save],
    delete: [...changing, webhook.remove],
  });

  const keys = keyRoutes(deps);
  resource(app, '/app/api/keys', { get: [...reading, keys.list], post: [...changing, jsonBody, keys.create] });
  resource(app, '/app/api/keys/:id', { delete: [...changing, keys.revoke] });
};
