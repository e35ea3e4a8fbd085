// @ts-check
// Arguments for the calls of statement-calls.mjs. Most values do not matter; those that decide what a statement reads come
// from a place.

export const ID = '00000000-0000-0000-0000-000000000000';
export const NOW = new Date(0);
export const BYTES = new Uint8Array(32);

const DAY_MS = 86_400_000;

/** Points in time of a database that is filled from `start` to `now`. @param {Date} start @param {Date} now */
const timesOf = (start, now) => ({
  start,
  /** The counts by the hour begin a day before. */
  lastYear: new Date(now.getTime() - 399 * DAY_MS),
  /** The oldest part is before it, as what expired since the previous run of the expiry. */
  early: new Date(start.getTime() + (now.getTime() - start.getTime()) / 200),
  /** A day in the middle. */
  from: new Date((start.getTime() + now.getTime()) / 2),
  to: new Date((start.getTime() + now.getTime()) / 2 + DAY_MS),
  yesterday: new Date(now.getTime() - DAY_MS),
  lately: new Date(now.getTime() - DAY_MS / 24),
  now,
  soon: new Date(now.getTime() + DAY_MS / 12),
});

/**
 * Rows and times to call statements with.
 *
 * @typedef {ReturnType<typeof timesOf> & import('@vat/testkit').FilledIds} Place
 */

/** Where there are no rows, for statements that are not run. @type {Place} */
export const NOWHERE = {
  ...timesOf(NOW, NOW),
  account: ID,
  smallAccount: ID,
  disabledAccount: ID,
  user: ID,
  check: ID,
  request: ID,
  pendingRequest: ID,
  waitingRequest: ID,
  undispatchedRequest: ID,
  malformedRequest: ID,
  watchRequest: ID,
  batch: ID,
  runningBatch: ID,
  coverage: ID,
  delivery: ID,
  pendingDelivery: ID,
  event: ID,
  eventPosition: '1',
  watch: ID,
  mail: ID,
  anchor: ID,
  nextAnchor: 1,
  vatNumber: '',
  reference: '',
};

/** A filled database. @param {import('@vat/testkit').FilledIds} ids @param {Date} start @param {Date} now @returns {Place} */
export const placeIn = (ids, start, now) => ({ ...ids, ...timesOf(start, now) });

/** @type {import('@vat/domain').NewEvent} */
export const EVENT = { id: ID, type: 'webhook.test', body: '' };
/** @param {Place} at @returns {import('@vat/domain').Reader} */
export const readerOf = ({ account }) => ({ accountId: account, testOnly: false });
/** @type {import('@vat/domain').CheckRecord} */
export const CHECK = { id: ID, vatNumber: '', valid: true, reference: null, checkedAt: NOW, bytes: BYTES, hash: BYTES };
/** @type {import('@vat/domain').Exchange} */
const EXCHANGE = {
  source: 'vies',
  startedAt: NOW,
  durationMs: 0,
  request: { method: 'POST', url: '', headers: {}, body: BYTES },
  response: null,
  error: null,
};
/** @type {import('@vat/domain').NewRequest} */
const REQUEST = {
  id: ID,
  accountId: ID,
  test: false,
  input: '',
  memberState: 'DE',
  national: '',
  vatNumber: '',
  requester: null,
  reference: null,
  trader: null,
  entries: [],
  createdAt: NOW,
  windowEndsAt: NOW,
};
/** @param {Place} at */
export const requestOf = ({ account, now }) => ({ ...REQUEST, accountId: account, createdAt: now });
/** @type {import('@vat/domain').Answer} */
const ANSWER = {
  verdict: 'valid',
  name: null,
  address: null,
  consultationNumber: null,
  traderMatch: null,
  answeredAt: NOW.toISOString(),
};
export const STORED_ANSWER = { status: 201, headers: {}, body: BYTES };
export const KEY = { key: '', fingerprint: BYTES, lockedUntil: NOW, expiredBefore: NOW };
export const QUOTA = { period: '1970-01', limit: 1 };
export const CHOICE = { from: NOW, to: NOW, vatNumber: '', reference: null };
/** @type {import('@vat/domain').NewBatch} */
export const BATCH = {
  id: ID,
  accountId: ID,
  label: null,
  fileName: null,
  requester: null,
  header: null,
  lines: [
    JSON.stringify([
      { id: ID, line: 1, input: '', vatNumber: null, reference: null, requestId: ID, error: null, cells: [] },
    ]),
  ],
  requests: [JSON.stringify([{ ...REQUEST, answer: null }])],
  counts: { lines: 1, failed: 0, costing: 1 },
  queues: [],
  quota: QUOTA,
  overQuota: { code: 'QUOTA_EXCEEDED', message: '' },
  createdAt: NOW,
  giveUpAt: NOW,
  maxActive: 1,
  lineLimit: { max: 1, since: NOW },
  idempotency: { key: '', fingerprint: BYTES, expiredBefore: NOW },
  answerOf: () => STORED_ANSWER,
};
/** @type {import('@vat/domain').NewCoverage} */
export const COVERAGE = {
  id: ID,
  accountId: ID,
  label: null,
  fileName: null,
  maxAgeDays: 30,
  minGrade: 'basic',
  header: null,
  width: 2,
  lines: [
    {
      ...{ id: ID, line: 1, status: 'missing', input: '', vatNumber: null, supplyDate: '2026-01-01', reference: null },
      ...{ check: null, error: null, cellsJson: '[]' },
    },
  ],
  gaps: null,
  createdAt: NOW,
  lineLimit: { max: 1, since: NOW },
  idempotency: null,
  answerOf: () => STORED_ANSWER,
};
/** @type {import('@vat/domain').NewWatch & import('@vat/domain').Watch} */
export const WATCH = {
  id: ID,
  accountId: ID,
  vatNumber: '',
  memberState: 'DE',
  national: '',
  input: '',
  label: null,
  requester: null,
  frequency: 'daily',
  state: 'active',
  createdAt: NOW,
  nextCheckAt: NOW,
  requestId: null,
  lastCheckId: null,
  lastCheckedAt: null,
  missedSince: null,
};
/** @type {import('@vat/domain').Settlement} */
export const SETTLEMENT = {
  requestId: ID,
  entries: [],
  check: CHECK,
  consumes: true,
  exchanges: [EXCHANGE],
  lookup: { expectedAttempts: 0, attempts: 1, answer: ANSWER },
  event: EVENT,
  deliveryId: ID,
  ofBatch: true,
  watch: {
    watchId: ID,
    checkId: ID,
    checkedAt: NOW,
    seen: { valid: true, name: null, address: null },
    changes: [],
    now: NOW,
  },
  now: NOW,
};
/** @type {import('@vat/domain').LookupToStore} */
export const LOOKUP = {
  requestId: ID,
  expectedAttempts: 0,
  decision: {
    entries: [],
    attempts: 1,
    windowRetries: 0,
    backgroundRetries: 0,
    lastError: null,
    unconfirmed: null,
    giveUpAt: NOW,
    unconfirmedAt: null,
    numberAlone: false,
    next: { kind: 'settle', answer: ANSWER },
  },
  exchange: EXCHANGE,
  suspend: false,
  dueAt: NOW,
};
/** @type {import('@vat/domain').ResendLimits} */
export const RESEND = { matched: 100_000, counted: 100_000, pending: 100_000, waitMs: 0 };
/**
 * @param {Place} at
 * @param {Partial<import('@vat/domain').ResendFilter>} filter
 * @returns {import('@vat/domain').NewResend}
 */
export const resendOf = (at, filter) => ({
  id: ID,
  reader: readerOf(at),
  filter: { from: at.from, to: at.to, ...filter },
  now: at.now,
  idempotency: null,
  answerOf: () => STORED_ANSWER,
});
/** @type {import('@vat/domain').LoggedAttempt} */
export const ATTEMPT = {
  number: 1,
  at: NOW,
  url: '',
  statusCode: 200,
  durationMs: 0,
  error: null,
  address: null,
  timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  answer: BYTES,
  answerTruncated: false,
};
/** @type {import('@vat/domain').NewAnchor} */
export const ANCHOR = {
  id: ID,
  seq: 1,
  closedAt: NOW,
  treeSize: 1,
  root: BYTES,
  prevAnchorHash: BYTES,
  hash: BYTES,
  body: BYTES,
  nodes: new Map(),
};
/** @type {import('@vat/domain').StampOutcome[]} */
export const OUTCOMES = [
  { kind: 'failed', error: '', counts: true, nextAttemptAt: NOW },
  {
    kind: 'stamped',
    token: BYTES,
    facts: { genTime: NOW, accuracyMs: null, serial: '', policy: '', authority: '', development: false },
  },
];
/** Covers all requests when it is read for the first time, and none afterwards, as when others reserve units meanwhile. */
export const shrinkingQuota = () => {
  const limits = [1];
  return {
    ...QUOTA,
    get limit() {
      return limits.pop() ?? 0;
    },
  };
};
export const IDENTITY = { certificate: '', root: '', keySealed: BYTES };
export const ROW = { boundTo: ID, sealed: BYTES, resealed: BYTES };
