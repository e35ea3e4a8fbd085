// @ts-check
import * as db from '@vat/db';

const ID = '00000000-0000-0000-0000-000000000000';
const NOW = new Date(0);
const BYTES = new Uint8Array(32);

/** @type {import('@vat/domain').NewEvent} */
const EVENT = { id: ID, type: 'webhook.test', body: '' };
/** @type {import('@vat/domain').Reader} */
const READER = { accountId: ID, testOnly: true };
/** @type {import('@vat/domain').CheckRecord} */
const CHECK = { id: ID, vatNumber: '', valid: true, reference: null, checkedAt: NOW, bytes: BYTES, hash: BYTES };
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
/** @type {import('@vat/domain').Answer} */
const ANSWER = {
  verdict: 'valid',
  name: null,
  address: null,
  consultationNumber: null,
  traderMatch: null,
  answeredAt: NOW.toISOString(),
};
const STORED_ANSWER = { status: 201, headers: {}, body: BYTES };
const KEY = { key: '', fingerprint: BYTES, lockedUntil: NOW, expiredBefore: NOW };
const QUOTA = { period: '1970-01', limit: 1 };
const CHOICE = { from: NOW, to: NOW, vatNumber: '', reference: null };
/** @type {import('@vat/domain').NewBatch} */
const BATCH = {
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
const WATCH = {
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
};
/** @type {import('@vat/domain').Settlement} */
const SETTLEMENT = {
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
const LOOKUP = {
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
const ATTEMPT = {
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
const ANCHOR = {
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
const OUTCOMES = [
  { kind: 'failed', error: '', counts: true, nextAttemptAt: NOW },
  {
    kind: 'stamped',
    token: BYTES,
    facts: { genTime: NOW, accuracyMs: null, serial: '', policy: '', authority: '', development: false },
  },
];
/** Covers all requests when it is read for the first time, and none afterwards, as when others reserve units meanwhile. */
const shrinkingQuota = () => {
  const limits = [1];
  return {
    ...QUOTA,
    get limit() {
      return limits.pop() ?? 0;
    },
  };
};
const IDENTITY = { certificate: '', root: '', keySealed: BYTES };
const ROW = { boundTo: ID, sealed: BYTES, resealed: BYTES };

/**
 * Calls of everything in packages/db that runs statements of its own, for {@link import('./verify-statements.mjs')}.
 * A new function needs a call here.
 *
 * @param {import('@vat/db').Database} on
 * @returns {(() => unknown)[]}
 */
export const statementCalls = (on) => [
  () => db.insertApiKey(on)(ID, { id: ID, name: '', test: false, hash: BYTES, hint: '' }, NOW, 1),
  () => db.revokeOwnKey(on)(ID, ID, NOW),
  () => db.readOverview(on, { days: 1, changes: 1, failuresDays: 1 })(ID, NOW),
  () => db.insertSession(on)({ id: BYTES, userId: ID, passwordHash: '', now: NOW, expiresAt: NOW }, BYTES),
  () => db.findSession(on, { idleMs: 1, maxAgeMs: 1, noteEveryMs: 1 })(BYTES, NOW),
  () => db.deleteSession(on)(BYTES),
  () => db.deleteSessionsOfUser(on)(ID),
  () => db.liveSessions(on)([''], NOW),
  () => db.deleteExpiredSessions(on)(NOW),
  () =>
    db.reserveTries(on, 1)(
      [1, 2].map((tries) => ({ key: BYTES, tries })),
      NOW,
    ),
  () => db.forgetSignIns(on)(BYTES),
  () => db.auditUsage(on)('1970-01', 1),
  () => db.reserveUnits(on)({ accountId: ID, ...QUOTA, wanted: 1 }),
  () => db.rememberNetwork(on)(ID, BYTES),
  () => db.listKnownNetworks(on)(1),
  () =>
    db.changePassword(on)({
      userId: ID,
      from: '',
      to: '',
      session: { id: BYTES, userId: ID, now: NOW, expiresAt: NOW },
    }),
  () => db.listLines(on)(ID, ID, { status: 'done', afterId: ID, limit: 1 }),
  () => db.readResults(on)(ID, ID, 1),
  () => db.findResultsHead(on)(ID, ID),
  () => db.findBatch(on)(ID, ID),
  () => db.listBatches(on)(ID, ID, 1),
  () => db.deleteBatch(on)(ID, ID),
  () => db.deleteOldBatches(on)(NOW),
  () => db.startBatches(on)([ID]),
  () => db.dispatchLines(on)('DE', NOW),
  () => db.queuesToDispatch(on)(['DE']),
  () => db.endLostLines(on)(NOW, 1),
  () => db.completeBatches(on)([ID], NOW),
  () => db.auditBatches(on)(NOW, 1),
  () => db.insertBatch(on)({ ...BATCH, idempotency: null }),
  () => db.insertBatch(on)({ ...BATCH, idempotency: null, quota: shrinkingQuota() }),
  () => db.insertBatch(on)(BATCH),
  () => db.searchBudget(on).take('gleif', '1970-01-01', 1),
  () => db.searchBudget(on).block('gleif', '1970-01-01'),
  () => db.findAnchor(on)(ID),
  () => db.listAnchors(on)(1, 1),
  () => db.findLeaves(on)([ID]),
  () => db.readBlock(on)({ seq: 1, level: 0, index: 0 }),
  () => db.auditAnchors(on).anchors(0, 1),
  () => db.auditAnchors(on).leaves(1, 0, 1),
  () => db.auditAnchors(on).leavesBeyond(),
  () => db.auditAnchors(on).leafFaults(ID, 1),
  () => db.auditAnchors(on).checkStamps(ID, 1),
  () => db.closeAlone(on)(async ({ take, write }) => [await take(1, 0, 1), await write(ANCHOR)]),
  () => db.chooseEvidence({ snapshot: (work) => work(on) })(ID, CHOICE, 2),
  () => db.readEvidence(on).checks([ID]),
  () => db.readEvidence(on).requests([ID]),
  () => db.readEvidence(on).exchanges([ID]),
  () => db.readEvidence(on).anchors([1]),
  () => db.readEvidence(on).changes([ID]),
  () => db.findEvidence(on)([ID]),
  ...[db.exportLeases(on), db.downloadLeases(on)].flatMap((leases) => [
    () => leases.take(ID, ID, 1),
    () => leases.renew(ID, ID, 1),
    () => leases.release(ID, ID),
  ]),
  () => db.deleteOldEvidence(on)(NOW),
  () => db.evidenceAge(on)(),
  () => db.eraseAccount(on)(ID, NOW, NOW),
  () => db.storeDevelopmentIdentity(on)(IDENTITY, null, NOW),
  () => db.pinTimestampRoot(on)('', '', NOW),
  () => db.listTimestampRoots(on)(),
  () => db.forgetTimestampRoot(on)(''),
  () => db.findToken(on)(ID, ID),
  () => db.findPendingStamp(on)(ID),
  ...OUTCOMES.map((outcome) => () => db.recordStamp(on)({ subjectId: ID, attempts: 0 }, outcome)),
  () => db.requestStampForCheck(on)({ checkId: ID, accountId: ID, now: NOW }, KEY),
  () => db.dueStamps(on)(NOW, null, 1),
  () => db.findIdempotencyKey(on)(ID, '', NOW),
  () => db.bindAnswer(on)(ID, { ...KEY, answer: STORED_ANSWER }, NOW),
  () => db.deleteExpiredKeys(on)(NOW),
  () => db.relockIdempotencyKey(on)(ID, '', NOW, NOW),
  () => db.storeIdempotentAnswer(on)(ID, '', STORED_ANSWER),
  () => db.admitRequest(on)({ request: REQUEST, quota: QUOTA, maxPending: 1, idempotency: KEY }),
  () => db.admitRequest(on)({ request: REQUEST, quota: QUOTA, maxPending: 1, idempotency: null }),
  () => db.acceptRequest(on)({ id: ID, accountId: ID, now: NOW, giveUpAt: NOW, maxPending: 0, evenAnswered: false }),
  () => db.acceptRequest(on)({ id: ID, accountId: ID, now: NOW, giveUpAt: NOW, maxPending: 1, evenAnswered: false }),
  () => db.findCheck(on)(ID, READER),
  () => db.listChecks(on)(READER, { vatNumber: '', valid: true, from: NOW, to: NOW, reference: '' }, ID, 1),
  () => db.beginLookup(on)(ID, NOW),
  () => db.markLookupStarted(on)(ID, 0, NOW),
  () => db.storeLookup(on)(LOOKUP),
  () => db.findMalformedLines(on)(1),
  () => db.settleMalformedLines(on)([{ requestId: ID, check: CHECK }], NOW),
  () => db.recordMalformed(on)({ request: REQUEST, check: CHECK, idempotency: null }),
  () => db.findRequest(on)(ID, READER),
  () => db.listRequests(on)(ID, undefined, ID, 1),
  () => db.settleRequest(on)(SETTLEMENT),
  () => db.endRequest(on)({ requestId: ID, reason: 'UPSTREAM_NO_ANSWER', event: EVENT, deliveryId: ID, now: NOW }),
  () => db.overdueRequests(on)(NOW, null, 1),
  () => db.requestsToAbandon(on)(NOW, 1),
  () => db.releaseOrphans(on)(NOW, NOW, { live: NOW, test: NOW }),
  () => db.recordMinutes(on)([{ memberState: 'DE', minute: NOW, end: 'answered', lookups: 1, buckets: [] }]),
  () => db.readMinutes(on)(NOW),
  () => db.deleteMinutes(on)(NOW),
  () => db.queueDepths(on)(NOW),
  () => db.findDueWatches(on)(['DE'])(NOW, 1),
  () =>
    db.startRun(on)({
      watchId: ID,
      requestId: ID,
      entries: [],
      now: NOW,
      giveUpAt: NOW,
      quota: QUOTA,
      nextCheckAt: NOW,
      retryAt: NOW,
      asIfDue: false,
    }),
  () => db.findRunningWatch(on)(ID),
  () => db.findOrFollowWatch(on)(ID, NOW),
  () => db.findWatch(on)(ID, ID),
  () => db.listWatches(on)(ID, ID, 1),
  () => db.listChanges(on)(ID, ID, ID, 1),
  () => db.createWatch(on)(WATCH, 1, null),
  () => db.changeWatch(on)(ID, ID, () => WATCH),
  () => db.changeWatch(on)(ID, ID, () => ({ ...WATCH, state: 'paused' })),
  () => db.deleteWatch(on)(ID, ID),
  () => db.findDelivery(on)(ID, READER),
  () => db.listDeliveries(on)(READER, ID, 1),
  () => db.dueDeliveries(on)(NOW, null, 1),
  () => db.claimDelivery(on)({ deliveryId: ID, number: 1, now: NOW, leasedUntil: NOW }),
  () => db.releaseDelivery(on)(ID, 1),
  () => db.recordAttempt(on)({ deliveryId: ID, attempt: ATTEMPT, plan: { state: 'successful', nextAttemptAt: null } }),
  () => db.deleteOldDeliveries(on)(NOW),
  () => db.endRemovedDeliveries(on)(NOW, ID),
  () => db.holdDeliveries(on)([ID]),
  () => db.resumeDeliveries(on)(1),
  () => db.sendTestEvent(on, 1)({ accountId: ID, test: false, event: EVENT, deliveryId: ID, now: NOW }),
  () => db.resendDelivery(on, 1)({ deliveryId: ID, reader: READER, newDeliveryId: ID, now: NOW }),
  () => db.removeWebhook(on)(ID, NOW),
  () => db.saveWebhook(on)({ accountId: ID, url: '', secretSealed: BYTES, secretPrefix: '', configuredAt: NOW }),
  () => db.sealedWebhooks(on).replace([ROW]),
  () => db.pingDatabase(on)(),
];
