import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  type Database,
  deleteSession,
  deleteSessionsOfUser,
  findMailChoice,
  findSession,
  findUser,
  findUserById,
  findWebhook,
  forgetSignIns,
  insertAccount,
  insertApiKey,
  insertSession,
  listApiKeys,
  listKnownNetworks,
  listRequests,
  liveSessions,
  readOverview,
  rememberNetwork,
  removeWebhook,
  changePassword as replacePassword,
  reserveSignIn,
  reserveTries,
  revokeOwnKey,
  saveWebhook,
  takeBackSignIn,
} from '@vat/db';
import {
  beginSession,
  changePassword,
  createAccount,
  createKey,
  PASSWORD_CHANGE_LIMIT,
  type PublishChange,
  SIGN_IN_LIMITS,
  SIGN_IN_QUEUE,
  SIGN_UP_LIMITS,
  signIn,
  signUp,
  tooBusyToSignIn,
} from '@vat/domain';
import { readAsSetting, type SettingsOf } from '@vat/runtime';
import { createNameResolver, parseNetworks, sealSecret, validateUrl } from '@vat/webhooks';
import { Tinypool } from 'tinypool';
import { shortMemory } from '../cached.js';
import { fairQueue } from '../fair-queue.js';
import type { CallRate } from '../middleware/limit-rate.js';
import { keyedMutex } from '../turns.js';
import { composeMembers } from './compose-members.js';
import type { DashboardDeps } from './mount-dashboard.js';
import { type PageStreamsDeps, pageStreams } from './page-streams.js';
import { sessionCookie, sessionTokens } from './session.js';

/** The settings of the dashboard's API. */
type DashboardSettings = SettingsOf<
  'api',
  | ('SECRET_KEY' | 'SECRET_KEY_PREVIOUS' | 'SIGNUP' | 'PUBLIC_VERIFICATION' | 'WEBHOOK_ALLOWED_NETWORKS')
  | ('RATE_LIMIT' | 'SESSION_IDLE' | 'SESSION_MAX_AGE' | 'SMTP_URL')
>;

/** The built dashboard, next to this app in the checkout and in the image. */
const PAGES = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

/** A session's last use is written at most this often, and at least ten times within its idle time. */
const MAX_TOUCH_INTERVAL_MS = 60_000;

/** The period that the overview covers. */
const OVERVIEW_SPAN = { days: 30, changes: 10, failuresDays: 7 } as const;

/** Sites from which users have signed in before; they have their own branch in the sign-in queue. About 20 MB. */
const KNOWN_SITES = { max: 100_000, ms: 90 * 24 * 60 * 60_000 } as const;

/** Cached refusals, so that repeated attempts cost no database read. */
const REFUSALS = { max: 10_000, ms: 1_000 } as const;

const STREAM_LIMITS = {
  perSession: 4,
  perAccount: 100,
  perProcess: 1_000,
  coalesceMs: 500,
  heartbeatMs: 20_000,
  rereadMs: 5_000,
} as const;

type DashboardServices = {
  db: Database;
  /** The key of public links. */
  readLinkKey: () => Promise<Uint8Array>;
  publishChange: PublishChange;
  subscribe: PageStreamsDeps['subscribe'];
  baseUrl: () => string;
  /** Closes the page streams when it aborts. */
  stopping: AbortSignal;
  /** A database call that fails after this many milliseconds has timed out. */
  hungAfterMs: number;
  /** The rate limit of a dashboard user. */
  userRate: CallRate;
  now: () => Date;
};

/** Composes the dashboard's API. Throws {@link SettingsError}. `close` ends its thread and cancels pending DNS lookups. */
export const composeDashboard = (
  settings: DashboardSettings,
  { db, readLinkKey, publishChange, subscribe, baseUrl, stopping, hungAfterMs, userRate, now }: DashboardServices,
): { deps: DashboardDeps; close: () => Promise<void> } => {
  const remove = removeWebhook(db);
  const allowed = readAsSetting(
    () => parseNetworks(settings.WEBHOOK_ALLOWED_NETWORKS ?? ''),
    'WEBHOOK_ALLOWED_NETWORKS',
  );
  const maxAgeMs = settings.SESSION_MAX_AGE;
  const idleMs = Math.min(settings.SESSION_IDLE, maxAgeMs);
  const tokens = sessionTokens(settings.SECRET_KEY, settings.SECRET_KEY_PREVIOUS);
  const resolver = createNameResolver();
  const inTurn = keyedMutex({ hungAfterMs });
  // One hash at a time per process: each needs 19 MiB and a CPU core, which calls of the public API need too.
  const hashThread = new Tinypool({
    filename: new URL('./hash-thread.js', import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
  });
  const hashPassword = (password: string): Promise<string> => hashThread.run(password, { name: 'hashPassword' });
  const verifyPassword = (phc: string, password: string): Promise<boolean> =>
    hashThread.run({ phc, password }, { name: 'verifyPassword' });
  const dummyHash = hashPassword(randomUUID());
  // It fails when the process stops at once. Sign-ins await it.
  dummyHash.catch(() => undefined);
  const reserveChange = reserveSignIn(db, PASSWORD_CHANGE_LIMIT);
  const forget = forgetSignIns(db);
  const begin = beginSession({ tokens, insertSession: insertSession(db), sessionLifeMs: idleMs, now });
  const streams = pageStreams({ subscribe, liveSessions: liveSessions(db), limits: STREAM_LIMITS, now });
  stopping.addEventListener('abort', streams.close);
  const knownSites = shortMemory<true>(KNOWN_SITES);
  const remember = (networks: Uint8Array[]): void => {
    for (const network of networks) knownSites.set(Buffer.from(network).toString('hex'), true, now());
  };
  // While Postgres is away the list stays empty; sites are added as users sign in.
  listKnownNetworks(db)(KNOWN_SITES.max).then(remember, () => undefined);
  const { signIn: verified, refuse: refuseSignIn } = signIn({
    tokens,
    queue: fairQueue({ ...SIGN_IN_QUEUE, refuse: tooBusyToSignIn, hungAfterMs, now }),
    refusals: shortMemory(REFUSALS),
    knownSites,
    reserve: reserveTries(db, SIGN_IN_LIMITS.windowMs),
    forget,
    takeBack: takeBackSignIn(db),
    findUser: findUser(db),
    rememberNetwork: rememberNetwork(db),
    verifyPassword,
    beginSession: begin,
    dummyHash,
    now,
  });
  const deps: DashboardDeps = {
    pagesFolder: PAGES,
    baseUrl,
    userRate,
    now,
    tokens,
    cookie: sessionCookie(baseUrl, maxAgeMs),
    findSession: findSession(db, { idleMs, maxAgeMs, noteEveryMs: Math.min(MAX_TOUCH_INTERVAL_MS, idleMs / 10) }),
    deleteSession: deleteSession(db),
    deleteSessionsOfUser: deleteSessionsOfUser(db),
    signIn: verified,
    refuseSignIn,
    changePassword: changePassword({
      tokens,
      reserve: reserveChange,
      forget,
      findUser: findUserById(db),
      verifyPassword,
      hashPassword,
      replace: replacePassword(db),
      inTurn,
      sessionLifeMs: idleMs,
      now,
    }),
    signup: settings.SIGNUP,
    publicVerification: settings.PUBLIC_VERIFICATION === 'on',
    keyRateLimit: settings.RATE_LIMIT,
    signUp: signUp({
      tokens,
      reserve: reserveTries(db, SIGN_UP_LIMITS.windowMs),
      refusals: shortMemory(REFUSALS),
      createAccount: createAccount({ insertAccount: insertAccount(db), hashPassword, now }),
      findUser: findUser(db),
      beginSession: begin,
      now,
    }),
    ...composeMembers({
      ...{ db, tokens, hashPassword, inTurn, publishChange, beginSession: begin, readLinkKey, baseUrl, now },
      sendsMail: settings.SMTP_URL !== undefined,
    }),
    readOverview: readOverview(db, OVERVIEW_SPAN),
    listRequests: listRequests(db),
    streams,
    validateUrl: (text) => validateUrl(text, { resolve: resolver.resolve, allowed }),
    sealSecret: (accountId, secret) => sealSecret(settings.SECRET_KEY, accountId, secret),
    findWebhook: findWebhook(db),
    saveWebhook: saveWebhook(db),
    removeWebhook: async (accountId, at) => {
      const removed = await remove(accountId, at);
      // Removing the endpoint ends its pending deliveries.
      if (removed) publishChange(accountId, 'deliveries');
      return removed;
    },
    mailConfigured: settings.SMTP_URL !== undefined,
    findMailChoice: findMailChoice(db),
    listKeys: listApiKeys(db),
    createKey: createKey({ insertKey: insertApiKey(db), now }),
    revokeKey: revokeOwnKey(db),
  };
  const close = async () => {
    streams.close();
    resolver.close();
    await hashThread.destroy();
  };
  return { deps, close };
};
