import { accessOf, DASHBOARD_OPERATIONS, type DashboardOperation, type DashboardOperationName } from '@vat/contracts';
import type { Access } from '@vat/domain';
import type { IRouter, RequestHandler } from 'express';
import { resources } from '../http/resource.js';
import { secure } from '../http/secure.js';
import { jsonBody } from '../middleware/body.js';
import { type LimitUserRateDeps, limitUserRate } from '../middleware/limit-rate.js';
import { type CustomerRoutesDeps, mountCustomerRoutes } from '../routes/mount-customer-routes.js';
import { type AccountReadingsDeps, accountReadings, type KeyRoutesDeps, keyRoutes } from './account-routes.js';
import { type MemberRoutesDeps, memberRoutes } from './member-routes.js';
import { type NotificationSettingsDeps, notificationSettings } from './notification-settings.js';
import { type StreamPageUpdatesDeps, streamPageUpdates } from './page-streams.js';
import type { ServePagesDeps } from './serve-pages.js';
import {
  callAsCustomer,
  findOwnSession,
  type RequireSessionDeps,
  requireCsrf,
  requireRole,
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
  MemberRoutesDeps &
  Omit<NotificationSettingsDeps, 'changeMailChoice'> &
  AccountReadingsDeps &
  StreamPageUpdatesDeps &
  ServePagesDeps & {
    baseUrl: () => string;
    /** The error with which a sign-in is refused at once, see {@link shedSignIns}. */
    refuseSignIn: ShedSignInsDeps['refuse'];
  };

/** The handlers of the operations that only the dashboard has. */
const handlersOf = (deps: DashboardDeps & NotificationSettingsDeps): Record<DashboardOperationName, RequestHandler> => {
  const session = sessionRoutes(deps);
  const account = accountReadings(deps);
  const webhook = webhookSettings(deps);
  const keys = keyRoutes(deps);
  const notifications = notificationSettings(deps);
  return {
    getSession: session.show,
    signIn: session.signIn,
    signOut: session.signOut,
    endSessions: session.signOutEverywhere,
    getConfig: session.config,
    signUp: session.signUp,
    acceptInvitation: session.acceptInvitation,
    changePassword: session.changePassword,
    getOverview: account.overview,
    listAcceptedRequests: account.requests,
    streamPageUpdates: streamPageUpdates(deps),
    getSettings: webhook.settings,
    getWebhookSettings: webhook.show,
    saveWebhook: webhook.save,
    removeWebhook: webhook.remove,
    getNotifications: notifications.show,
    changeNotifications: notifications.change,
    listKeys: keys.list,
    createKey: keys.create,
    revokeKey: keys.revoke,
    ...memberRoutes(deps),
  };
};

/**
 * The dashboard's own JSON API: settings, which only a session can change, and what keys can do under `/v1`. Errors are reported in
 * this order: 404 or 405, 401 without a session, 429 for its rate, 403 without its CSRF token or for its role, 400 for the body.
 */
export const mountDashboard = (
  app: IRouter,
  deps: DashboardDeps & CustomerRoutesDeps & NotificationSettingsDeps,
): void => {
  app.use('/app/api', secure('answers'));
  const sameOrigin = requireSameOrigin(deps.baseUrl);
  const limitRate = limitUserRate(deps);
  const readSession = requireSession(deps);
  const gatesOf = (access: Access): RequestHandler[] => [
    readSession,
    limitRate,
    ...(access === 'read' ? [] : [sameOrigin, requireCsrf(deps.tokens)]),
    requireRole(access),
  ];
  /** A body may take a minute to arrive. Meanwhile the session can end, and the role can change. */
  const bodyFor = (access: Access | 'visit'): RequestHandler[] =>
    access === 'visit' ? [jsonBody] : [jsonBody, readSession, requireRole(access)];
  const visiting = (method: DashboardOperation['method']) =>
    method === 'get' ? [findOwnSession(deps), limitRate] : [sameOrigin];

  mountCustomerRoutes(app, '/app/api', deps, {
    reading: [...gatesOf('read'), callAsCustomer(deps, 'read')],
    changing: [...gatesOf('change'), callAsCustomer(deps, 'change')],
  });

  const handlers = handlersOf(deps);
  const routes = Object.entries<DashboardOperation>(DASHBOARD_OPERATIONS).map(([name, operation]) => {
    const { method, path } = operation;
    const access = accessOf(operation);
    return {
      name,
      method,
      path,
      handlers: [
        ...(access === 'visit' ? visiting(method) : gatesOf(access)),
        ...(method === 'get' || method === 'delete' ? [] : bodyFor(access)),
        handlers[name as DashboardOperationName],
      ],
    };
  });
  // Closed, it is not there.
  resources(
    app,
    routes.filter(({ name }) => name !== 'signUp' || deps.signup === 'open'),
  );
};
