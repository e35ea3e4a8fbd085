import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  type Database,
  deleteSession,
  deleteSessionsOfUser,
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
import { createAccount } from '@vat/domain';
import { hashPassword, type readSettings, SettingsError, verifyPassword } from '@vat/runtime';
import { createNameResolver, type Network, parseNetworks, sealSecret, validateUrl } from '@vat/webhooks';
import { fairQueue } from '../fair-queue.js';
import type { CallRate } from '../middleware/limit-rate.js';
import { shortMemory } from '../short-memory.js';
import { keyedMutex } from '../turns.js';
import type { DashboardDeps } from './mount-dashboard.js';
import { type PageStreamsDeps, pageStreams } from './page-streams.js';
import { changePassword, PASSWORD_CHANGE_LIMIT } from './password.js';
import { sessionCookie, sessionTokens } from './session.js';
import { beginSession, SIGN_IN_LIMITS, SIGN_IN_QUEUE, signIn, tooBusyToSignIn } from './sign-in.js';
import { SIGN_UP_LIMITS, signUp } from './sign-up.js';

/** The settings of the dashboard's API. */
export const DASHBOARD_SETTINGS = [
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'SESSION_IDLE',
  'SESSION_MAX_AGE',
  'SIGNUP',
  'WEBHOOK_ALLOWED_NETWORKS',
] as const;
type DashboardSettings = ReturnType<typeof readSettings<(typeof DASHBOARD_SETTINGS)[number]>>;

/** The built dashboard, as it lies beside this app in the checkout and in the image. */
const PAGES = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

/** A session's use is noted at most this often, and ten times before it would end. */
const NOTE_USE_EVERY_MS = 60_000;

/** What the overview looks back on. */
const OVERVIEW_SPAN = { days: 30, changes: 10, failuresDays: 7 } as const;

/** Sites of users that have a place in the queue of their own; about 20 MB. */
const KNOWN_SITES = { max: 100_000, ms: 90 * 24 * 60 * 60_000 } as const;

/** A refusal is remembered for so long, and so many are, so that who repeats a try costs no read. */
const REFUSALS = { max: 10_000, ms: 1_000 } as const;

const STREAM_LIMITS = {
  perSession: 4,
  perAccount: 100,
  perProcess: 1_000,
  everyMs: 500,
  heartbeatMs: 20_000,
  deafMs: 5_000,
} as const;

type DashboardServices = {
  db: Database;
  subscribe: PageStreamsDeps['subscribe'];
  baseUrl: () => string;
  /** Ends the pages' streams at once. */
  stopping: AbortSignal;
  /** Milliseconds after which what fails has hung. */
  hungAfterMs: number;
  /** Of a dashboard user. */
  userRate: CallRate;
  now: () => Date;
};

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
  { db, subscribe, baseUrl, stopping, hungAfterMs, userRate, now }: DashboardServices,
): { deps: DashboardDeps; close: () => void } => {
  const allowed = allowedNetworks(settings.WEBHOOK_ALLOWED_NETWORKS ?? '');
  const maxAgeMs = settings.SESSION_MAX_AGE;
  const idleMs = Math.min(settings.SESSION_IDLE, maxAgeMs);
  const tokens = sessionTokens(settings.SECRET_KEY, settings.SECRET_KEY_PREVIOUS);
  const resolver = createNameResolver();
  const inTurn = keyedMutex({ hungAfterMs });
  // One hash at a time a process: each costs 19 MiB and a core, which calls of the public API need too.
  const oneHash = keyedMutex();
  const verifyInTurn = (phc: string, password: string) => oneHash('', () => verifyPassword(phc, password));
  const hashWithinLimit = (password: string) => oneHash('', () => hashPassword(password));
  const reserveChange = reserveSignIn(db, PASSWORD_CHANGE_LIMIT);
  const forget = forgetSignIns(db);
  const begin = beginSession({ tokens, insertSession: insertSession(db), sessionLifeMs: idleMs, now });
  const streams = pageStreams({ subscribe, liveSessions: liveSessions(db), limits: STREAM_LIMITS, now });
  stopping.addEventListener('abort', streams.close);
  const knownSites = shortMemory<true>(KNOWN_SITES);
  const remember = (networks: Uint8Array[]): void => {
    for (const network of networks) knownSites.set(Buffer.from(network).toString('hex'), true, now());
  };
  // Without Postgres there are none yet; they become known as people sign in.
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
    verifyPassword: verifyInTurn,
    beginSession: begin,
    dummyHash: hashPassword(randomUUID()),
    now,
  });
  const deps: DashboardDeps = {
    pagesFolder: PAGES,
    baseUrl,
    userRate,
    now,
    tokens,
    cookie: sessionCookie(baseUrl, maxAgeMs),
    findSession: findSession(db, { idleMs, maxAgeMs, noteEveryMs: Math.min(NOTE_USE_EVERY_MS, idleMs / 10) }),
    deleteSession: deleteSession(db),
    deleteSessionsOfUser: deleteSessionsOfUser(db),
    signIn: verified,
    refuseSignIn,
    changePassword: changePassword({
      tokens,
      reserve: reserveChange,
      forget,
      findUser: findUserById(db),
      verifyPassword: verifyInTurn,
      hashPassword: hashWithinLimit,
      replace: replacePassword(db),
      inTurn,
      sessionLifeMs: idleMs,
      now,
    }),
    signup: settings.SIGNUP,
    signUp: signUp({
      tokens,
      reserve: reserveTries(db, SIGN_UP_LIMITS.windowMs),
      refusals: shortMemory(REFUSALS),
      createAccount: createAccount({ insertAccount: insertAccount(db), hashPassword: hashWithinLimit, now }),
      findUser: findUser(db),
      beginSession: begin,
      now,
    }),
    readOverview: readOverview(db, OVERVIEW_SPAN),
    listRequests: listRequests(db),
    streams,
    validateUrl: (text) => validateUrl(text, { resolve: resolver.resolve, allowed }),
    sealSecret: (accountId, secret) => sealSecret(settings.SECRET_KEY, accountId, secret),
    findWebhook: findWebhook(db),
    saveWebhook: saveWebhook(db),
    removeWebhook: removeWebhook(db),
    listKeys: listApiKeys(db),
    insertKey: insertApiKey(db),
    revokeKey: revokeOwnKey(db),
  };
  const close = () => {
    streams.close();
    resolver.close();
  };
  return { deps, close };
};
