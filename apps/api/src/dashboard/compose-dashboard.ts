import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  type Database,
  deleteSession,
  findSession,
  findUser,
  findWebhook,
  forgetSignIns,
  insertApiKey,
  insertSession,
  listApiKeys,
  removeWebhook,
  reserveSignIn,
  revokeOwnKey,
  saveWebhook,
} from '@vat/db';
import { hashPassword, type readSettings, SettingsError, verifyPassword } from '@vat/runtime';
import { createNameResolver, judgeUrl, type Network, parseNetworks, sealSecret } from '@vat/webhooks';
import { oneAtATime } from '../one-at-a-time.js';
import type { DashboardDeps } from './mount-dashboard.js';
import { sessionCookie } from './session-cookie.js';
import { sessionTokens } from './session-tokens.js';
import { SIGN_IN_LIMIT, signIn } from './sign-in.js';

/** The settings of the dashboard's API. */
export const DASHBOARD_SETTINGS = [
  'SECRET_KEY',
  'SESSION_IDLE',
  'SESSION_MAX_AGE',
  'WEBHOOK_ALLOWED_NETWORKS',
] as const;
type DashboardSettings = ReturnType<typeof readSettings<(typeof DASHBOARD_SETTINGS)[number]>>;

/** The built dashboard, as it lies beside this app in the checkout and in the image. */
const PAGES = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

/** A session's use is noted at most this often, and ten times before it would end. */
const NOTE_USE_EVERY_MS = 60_000;

const allowedNetworks = (text: string): Network[] => {
  try {
    return parseNetworks(text);
  } catch (error) {
    throw new SettingsError(`WEBHOOK_ALLOWED_NETWORKS: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** Puts the dashboard's API together. Throws {@link SettingsError}. `close` gives up name lookups under way. */
export const composeDashboard = (
  settings: DashboardSettings,
  db: Database,
  baseUrl: () => string,
  now: () => Date,
): { deps: DashboardDeps; close: () => void } => {
  const allowed = allowedNetworks(settings.WEBHOOK_ALLOWED_NETWORKS ?? '');
  const maxAgeMs = settings.SESSION_MAX_AGE;
  const idleMs = Math.min(settings.SESSION_IDLE, maxAgeMs);
  const tokens = sessionTokens(settings.SECRET_KEY);
  const resolver = createNameResolver();
  const deps: DashboardDeps = {
    pagesFolder: PAGES,
    baseUrl,
    now,
    tokens,
    cookie: sessionCookie(baseUrl, maxAgeMs),
    findSession: findSession(db, { idleMs, maxAgeMs, noteEveryMs: Math.min(NOTE_USE_EVERY_MS, idleMs / 10) }),
    deleteSession: deleteSession(db),
    signIn: signIn({
      tokens,
      reserve: reserveSignIn(db, SIGN_IN_LIMIT),
      forget: forgetSignIns(db),
      findUser: findUser(db),
      verifyPassword,
      insertSession: insertSession(db),
      inTurn: oneAtATime(),
      decoy: hashPassword(randomUUID()),
      sessionLifeMs: idleMs,
      now,
    }),
    judgeUrl: (text) => judgeUrl(text, { resolve: resolver.resolve, allowed }),
    sealSecret: (accountId, secret) => sealSecret(settings.SECRET_KEY, accountId, secret),
    findWebhook: findWebhook(db),
    saveWebhook: saveWebhook(db),
    removeWebhook: removeWebhook(db),
    listKeys: listApiKeys(db),
    insertKey: insertApiKey(db),
    revokeKey: revokeOwnKey(db),
  };
  return { deps, close: resolver.close };
};
