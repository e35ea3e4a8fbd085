import type { Access } from '@vat/domain';

/** An operation that only the dashboard has. Those of the public API, which sessions have too, are in `OPERATIONS`. */
export type DashboardOperation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With `{id}` as a placeholder. */
  path: string;
  /** What it does, where the method does not say it, see {@link accessOf}. `visit`: it needs no session. */
  access?: Access | 'visit';
};

/**
 * What an operation of the dashboard does, of either list: GET reads, every other method changes something of the account. Which
 * roles may make the call follows from this alone (`roleAllows` of the domain).
 */
export const accessOf = <A extends string = never>({ method, access }: { method: string; access?: A }) =>
  access ?? (method === 'get' ? 'read' : 'change');

/** Every operation that only the dashboard has. docs/dashboard-api.md describes them. */
export const DASHBOARD_OPERATIONS = {
  getSession: { method: 'get', path: '/app/api/session' },
  signIn: { method: 'post', path: '/app/api/session', access: 'visit' },
  signOut: { method: 'delete', path: '/app/api/session', access: 'own' },
  endSessions: { method: 'delete', path: '/app/api/sessions', access: 'own' },
  getConfig: { method: 'get', path: '/app/api/config', access: 'visit' },
  signUp: { method: 'post', path: '/app/api/sign-up', access: 'visit' },
  changePassword: { method: 'put', path: '/app/api/password', access: 'own' },
  getInvitation: { method: 'post', path: '/app/api/invitation', access: 'visit' },
  acceptInvitation: { method: 'post', path: '/app/api/invitation/accept', access: 'visit' },
  getOverview: { method: 'get', path: '/app/api/overview' },
  listAcceptedRequests: { method: 'get', path: '/app/api/requests' },
  streamPageUpdates: { method: 'get', path: '/app/api/news' },
  getSettings: { method: 'get', path: '/app/api/settings' },
  getWebhookSettings: { method: 'get', path: '/app/api/webhook' },
  saveWebhook: { method: 'put', path: '/app/api/webhook' },
  removeWebhook: { method: 'delete', path: '/app/api/webhook' },
  getNotifications: { method: 'get', path: '/app/api/notifications' },
  changeNotifications: { method: 'patch', path: '/app/api/notifications', access: 'own' },
  listKeys: { method: 'get', path: '/app/api/keys' },
  createKey: { method: 'post', path: '/app/api/keys' },
  revokeKey: { method: 'delete', path: '/app/api/keys/{id}' },
  listMembers: { method: 'get', path: '/app/api/members' },
  changeRole: { method: 'patch', path: '/app/api/members/{id}', access: 'manage' },
  removeMember: { method: 'delete', path: '/app/api/members/{id}', access: 'manage' },
  invite: { method: 'post', path: '/app/api/invitations', access: 'manage' },
  revokeInvitation: { method: 'delete', path: '/app/api/invitations/{id}', access: 'manage' },
} as const satisfies Record<string, DashboardOperation>;

export type DashboardOperationName = keyof typeof DASHBOARD_OPERATIONS;
