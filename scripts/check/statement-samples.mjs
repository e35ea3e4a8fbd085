// @ts-check
// Arguments for the calls of statement-calls.mjs. Nothing is run, so most values do not matter.

export const ID = '00000000-0000-0000-0000-000000000000';
export const NOW = new Date(0);
export const BYTES = new Uint8Array(32);

/** @type {import('@vat/domain').NewEvent} */
export const EVENT = { id: ID, type: 'webhook.test', body: '' };
/** @type {import('@vat/domain').Reader} */
export const READER = { accountId: ID, testOnly: true };
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
export const REQUEST = {
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
    { id: ID, line: 1, input: '', vatNumber: null, reference: null, requestId: ID, error: null, cellsJson: '[]' },
  ],
  requests: [{ ...REQUEST, answer: null }],
  quota: QUOTA,
  overQuota: { code: 'QUOTA_EXCEEDED', message: '' },
  createdAt: NOW,
  giveUpAt: NOW,
  maxActive: 1,
  lineLimit: { max: 1, since: NOW },
  idempotency: { key: '', fingerprint: BYTES, expiredBefore: NOW },
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
    unconfirmedAt: null,
    numberAlone: false,
    next: { kind: 'settle', answer: ANSWER },
  },
  exchange: EXCHANGE,
  suspend: false,
  dueAt: NOW,
};
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
