// @ts-check
import * as db from '@vat/db';
import {
  ANCHOR,
  ATTEMPT,
  BATCH,
  BYTES,
  CHECK,
  CHOICE,
  COVERAGE,
  EVENT,
  ID,
  IDENTITY,
  KEY,
  LOOKUP,
  NOW,
  NOWHERE,
  OUTCOMES,
  QUOTA,
  RESEND,
  ROW,
  readerOf,
  requestOf,
  resendOf,
  SETTLEMENT,
  STORED_ANSWER,
  shrinkingQuota,
  WATCH,
} from './statement-samples.mjs';

/** Every combination of filters. @param {object[]} of */
const combine = (of) =>
  Array.from({ length: 2 ** of.length }, (_, chosen) =>
    Object.assign({}, ...of.filter((_filter, n) => (chosen >> n) & 1)),
  );

/** @param {import('./statement-samples.mjs').Place} at */
const filtersOf = ({ from, to, vatNumber, reference }) =>
  combine([{ vatNumber }, { valid: true }, { valid: false }, { from }, { to }, { reference }]);

/** @param {import('./statement-samples.mjs').Place} at @returns {import('@vat/domain').DeliveryFilter[]} */
const deliveryFiltersOf = ({ from, to }) =>
  combine([{ status: 'failed' }, { event: 'watch.changed' }, { from }, { to }]);

/** The second call finds one key used up. @param {ReturnType<typeof db.reserveTries>} reserve */
const reserveTwice = async (reserve) => {
  const limits = [1, 2].map((tries) => ({ key: new Uint8Array(32).fill(tries), tries }));
  return [await reserve(limits, new Date(1)), await reserve(limits, new Date(2))];
};
/** The second call finds the day's searches used up. @param {ReturnType<typeof db.searchBudget>['take']} take */
const searchTwice = async (take) => {
  const search = { source: /** @type {const} */ ('gleif'), day: '1970-01-01', limit: 1, accountId: ID };
  return [await take(search), await take(search)];
};

/**
 * Calls a function for several ids at once, which share its statement. Of ids that are not of the same month it reads several
 * partitions.
 *
 * @param {string[]} ids
 */
const of =
  (...ids) =>
  /** @template Call @param {(call: Call) => Promise<unknown>} run @param {(id: string) => Call} callOf */
  (run, callOf) =>
    Promise.all(ids.map((id) => run(callOf(id))));

/**
 * The owner of an account invites a member, who accepts, becomes an auditor and is removed.
 *
 * @param {import('./statement-samples.mjs').Place} at
 * @param {ReturnType<typeof db.insertInvitation>} invite
 * @param {ReturnType<typeof db.insertMember>} accept
 * @param {ReturnType<typeof db.changeMember>} change
 */
const joinAndLeave = async ({ account: accountId, user: ownerId, now }, invite, accept, change) => {
  const times = { createdAt: now, expiresAt: new Date(now.getTime() + 1) };
  const of = { accountId, tokenHash: new Uint8Array(32) };
  await invite(
    { id: ID, ...of, invitedBy: ownerId, email: null, role: 'member', ...times, mailDueAt: now },
    { members: 2, invitations: 1 },
  );
  await accept(of, { id: ID, email: '', passwordHash: '', now }, 2);
  await change({ accountId, ownerId, userId: ID, role: 'auditor' });
  await change({ accountId, ownerId, userId: ID, role: null });
};

/**
 * Calls of everything in packages/db that runs statements of its own. They are described ({@link
 * import('./verify-statements.mjs')}), and run and explained against a large database (statement-plans.test.ts).
 * A new function needs a call here.
 *
 * @param {import('@vat/db').Database} on
 * @param {import('./statement-samples.mjs').Place} [at] rows that exist
 * @returns {(() => unknown)[]}
 */
export const statementCalls = (on, at = NOWHERE) => [
  () => db.insertApiKey(on)(at.account, { id: ID, name: '', test: false, hash: BYTES, hint: '' }, at.now, 1),
  () => db.findApiKey(on)(BYTES),
  () => db.revokeOwnKey(on)(ID, at.account, NOW),
  () => db.readOverview(on, { days: 30, changes: 10, failuresDays: 7 })(at.account, at.now),
  () => db.insertSession(on)({ id: BYTES, userId: ID, passwordHash: '', now: NOW, expiresAt: NOW }, BYTES),
  () => db.findSession(on, { idleMs: 1, maxAgeMs: 1, noteEveryMs: 1 })(BYTES, NOW),
  () => db.deleteSession(on)(BYTES),
  () => db.deleteSessionsOfUser(on)(ID),
  () => db.liveSessions(on)([''], NOW),
  () => db.deleteExpiredSessions(on)(NOW),
  () => reserveTwice(db.reserveTries(on, 60_000)),
  () => db.forgetSignIns(on)(BYTES),
  () => db.auditUsage(on)(at.now.toISOString().slice(0, 7), 20),
  () => db.reserveUnits(on)({ accountId: at.account, ...QUOTA, wanted: 1 }),
  () => db.reserveUnits(on)({ accountId: at.account, ...QUOTA, limit: 0, wanted: 1 }),
  () => db.rememberNetwork(on)(ID, BYTES),
  () => db.listKnownNetworks(on)(1),
  () =>
    db.changePassword(on)({
      userId: at.user,
      from: '',
      to: '',
      session: { id: BYTES, userId: ID, now: NOW, expiresAt: NOW },
    }),
  () => db.listMembers(on)(at.account),
  () => db.listInvitations(on)(at.account, at.now),
  () => joinAndLeave(at, db.insertInvitation(on), db.insertMember(on), db.changeMember(on)),
  () => db.deleteInvitation(on)(at.account, ID),
  () => db.findInvitation(on)(BYTES, at.now),
  () => db.deleteExpiredInvitations(on)(at.now),
  () => db.changeMailChoice(on)(at.user, { quota: true, watch_changes: false }),
  () => db.listReachedQuotas(on)(at.now.toISOString().slice(0, 7), 500),
  () =>
    db.noteQuota(on)({
      ...{ accountId: at.account, plan: /** @type {const} */ ('enterprise'), monthlyQuota: null },
      ...{ period: at.now.toISOString().slice(0, 7), percent: 80, now: at.now },
    }),
  () => db.listWaitingItems(on)(null, at.lately, 500),
  () => db.createMail(on)({ id: ID, userId: at.user, kind: 'failed_deliveries', sentSince: at.soon, now: at.now }),
  () => db.listDueMails(on)(at.now, 1_000),
  () => db.claimMail(on)(at.mail, at.now, at.soon),
  () => db.claimMail(on)(ID, at.now, at.soon),
  () =>
    db.recordMail(on)(
      { id: at.mail, attempts: 0 },
      { state: 'sent', at: at.now },
      { kind: 'quota', period: at.now.toISOString().slice(0, 7), percent: 80, taken: 80, quota: 100 },
    ),
  () => db.releaseMail(on)({ id: at.mail, attempts: 0 }, at.now),
  () => db.deleteMail(on)(at.mail),
  ...[
    { kind: /** @type {const} */ ('failed_deliveries'), subjectIds: [at.delivery] },
    { kind: /** @type {const} */ ('completed_batches'), subjectIds: [at.batch] },
    { kind: /** @type {const} */ ('watch_changes'), subjectIds: [ID] },
    { kind: /** @type {const} */ ('quota'), subjectIds: [at.account] },
    { kind: /** @type {const} */ ('invitation'), subjectIds: [ID] },
  ].map((mail) => () => db.readMailFacts(on)({ ...mail, accountId: at.account, createdAt: at.now })),
  () => db.deleteOldMail(on)(at.now),
  () => db.listLines(on)(at.batch, at.account, { status: 'done', valid: true, afterId: ID, limit: 100 }),
  ...[undefined, false].map(
    (valid) => () => db.listLines(on)(at.batch, at.account, { status: undefined, valid, afterId: null, limit: 100 }),
  ),
  () => db.readResults(on)(at.batch, ID, 500),
  () => db.findResultsHead(on)(at.batch, at.account),
  () => db.findBatch(on)(at.runningBatch, at.account),
  () => db.listBatches(on)(at.account, null, 100),
  () => db.listBatches(on)(at.account, at.batch, 100),
  () => db.deleteBatch(on)(at.batch, at.account),
  () => db.deleteOldBatches(on)(at.start, at.start),
  () => db.startBatches(on)([at.undispatchedRequest]),
  () => db.dispatchLines(on)('DE', at.now),
  () => db.queuesToDispatch(on, () => at.now)(['DE', 'malformed']),
  () => db.endLostLines(on)(at.now, 500),
  () => db.completeBatches(on)([at.runningBatch], at.now),
  () => db.completeBatches(on)(null, at.now),
  () => db.auditBatches(on)(at.yesterday, 20),
  () => db.insertBatch(on)({ ...BATCH, accountId: at.smallAccount, idempotency: null }),
  () => db.insertBatch(on)({ ...BATCH, accountId: at.smallAccount, idempotency: null, quota: shrinkingQuota() }),
  () => db.insertBatch(on)({ ...BATCH, accountId: at.smallAccount }),
  () => searchTwice(db.searchBudget(on).take),
  () => db.searchBudget(on).block('gleif', '1970-01-01'),
  () => db.findAnchor(on)(at.anchor),
  () => db.listAnchors(on)(null, 100),
  () => db.findLeaves(on)([at.check]),
  () => db.readBlock(on)({ seq: 1, level: 0, index: 0 }),
  () => db.auditAnchors(on).anchors(0, 100),
  () => db.auditAnchors(on).leaves(1, 0, 500),
  () => db.auditAnchors(on).leavesBeyond(),
  () => db.auditAnchors(on).leafFaults(at.check, 500),
  () => db.auditAnchors(on).checkStamps(ID, 100),
  () =>
    db.closeAlone(on)(async ({ take, write }) => [
      await take(at.nextAnchor, 0, 1_000),
      await write({ ...ANCHOR, seq: at.nextAnchor }),
    ]),
  ...[{ from: at.yesterday, to: at.now }, { vatNumber: at.vatNumber }].map(
    (choice) => () => db.chooseEvidence({ snapshot: (work) => work(on) })(at.account, { ...CHOICE, ...choice }, 10_001),
  ),
  () => db.chooseCovering({ snapshot: (work) => work(on) })(at.account, at.coverage),
  () => db.findCoverage(on)(at.coverage, at.account),
  () => db.listCoverages(on)(at.account, null, 100),
  () => db.listCoverages(on)(at.account, at.coverage, 100),
  () => db.findCoverageHead(on)(at.coverage, at.account),
  () => db.deleteCoverage(on)(at.coverage, at.account),
  () => db.deleteOldCoverages(on)(at.start),
  () => db.listCoverageLines(on)(at.coverage, at.account, { status: 'missing', afterId: ID, limit: 100 }),
  () => db.listCoverageLines(on)(at.coverage, at.account, { status: undefined, afterId: null, limit: 100 }),
  () => db.readCoverageResults(on)(at.coverage, null, 500),
  () => db.readCoverageResults(on)(at.coverage, ID, 500),
  () =>
    db.findSupplyChecks(on)(
      at.account,
      [{ vatNumber: at.vatNumber, supplyDate: '2026-01-01', from: at.from, before: at.now }],
      ['qualified'],
    ),
  () => db.insertCoverage(on)({ ...COVERAGE, accountId: at.smallAccount }),
  () => db.readEvidence(on).checks([at.check]),
  () => db.readEvidence(on).requests([at.request]),
  () => db.readEvidence(on).exchanges([at.request]),
  () => db.readEvidence(on).anchors([1]),
  () => db.readEvidence(on).anchorBodies(0, 100),
  () => db.readEvidence(on).lastStamped(0, at.now),
  () => db.readEvidence(on).changes([ID]),
  () => db.findEvidence(on)([at.check]),
  () => db.findCheckWithEvidence(on)(at.check, readerOf(at)),
  ...[db.exportLeases(on), db.downloadLeases(on)].flatMap((leases) => [
    () => leases.take(at.account, ID, 1),
    () => leases.renew(ID, ID, 1),
    () => leases.release(ID, ID),
  ]),
  () => db.deleteOldEvidence(on)(at.early, 1),
  () => db.evidenceAge(on)(),
  () => db.eraseAccount(on)(at.disabledAccount, at.soon, at.now),
  () => db.storeDevelopmentIdentity(on)(IDENTITY, null, NOW),
  () => db.storePublicLinkKey(on)(BYTES, NOW),
  () => db.pinTimestampRoot(on)('', '', NOW),
  () => db.listTimestampRoots(on)(),
  () => db.forgetTimestampRoot(on)(''),
  () => db.findToken(on)(at.check, at.account),
  () => db.findPendingStamp(on)(at.anchor),
  // Not pending: the statement that deletes one without its check follows.
  () => db.findPendingStamp(on)(at.check),
  ...OUTCOMES.map((outcome) => () => db.recordStamp(on)({ subjectId: at.anchor, attempts: 1 }, outcome)),
  () => db.requestStampForCheck(on)({ checkId: at.check, accountId: at.account, now: at.now }, KEY),
  () => db.dueStamps(on)(at.soon, null, 500),
  () => db.findIdempotencyKey(on)(at.account, 'key-1', NOW),
  () => db.bindAnswer(on)(at.account, { ...KEY, answer: STORED_ANSWER }, at.now),
  () => db.deleteExpiredKeys(on)(at.soon),
  () => db.relockIdempotencyKey(on)(at.account, 'key-1', NOW, NOW),
  () => db.storeIdempotentAnswer(on)(at.account, 'key-1', STORED_ANSWER),
  () => db.listPartitions(on, 'request'),
  () => db.withChecks(on, [/** @type {any} */ ({ checkId: at.check, checkBody: null, checkHash: null })]),
  () => db.readEventToSend(on, ID),
  () => db.deleteDelivery(on, ID),
  () => db.admitRequest(on)({ request: requestOf(at), quota: QUOTA, maxPending: 200, idempotency: KEY }),
  () => db.admitRequest(on)({ request: requestOf(at), quota: QUOTA, maxPending: 200, idempotency: null }),
  ...[0, 200].map((maxPending) => () => {
    const { waitingRequest: id, account: accountId, now } = at;
    return db.acceptRequest(on)({ id, accountId, now, giveUpAt: now, maxPending, evenAnswered: false });
  }),
  () => {
    const { account: accountId, now } = at;
    return of(at.waitingRequest, ID)(db.acceptRequest(on), (id) => ({
      ...{ id, accountId, now, giveUpAt: now, maxPending: 200, evenAnswered: false },
    }));
  },
  () => db.findCheck(on)(at.check, readerOf(at)),
  () => db.findCheckOfAnyAccount(on)(at.check),
  ...filtersOf(at).flatMap((filter) => [
    () => db.listChecks(on, () => at.now)(readerOf(at), filter, null, 100),
    () => db.listChecks(on, () => at.now)({ ...readerOf(at), testOnly: true }, filter, at.check, 100),
  ]),
  () => db.beginLookup(on)(at.pendingRequest, at.soon),
  () => db.markLookupStarted(on)(at.pendingRequest, 0, at.now),
  () => db.storeLookup(on)({ ...LOOKUP, requestId: at.pendingRequest }),
  () => db.findMalformedLines(on)(100),
  () => db.settleMalformedLines(on)([{ requestId: at.malformedRequest, check: CHECK }], at.now),
  () =>
    db.settleMalformedLines(on)(
      [at.malformedRequest, ID].map((requestId) => ({ requestId, check: CHECK })),
      at.now,
    ),
  () => db.recordMalformed(on)({ request: requestOf(at), check: CHECK, idempotency: null }),
  () => db.findRequest(on)(at.request, readerOf(at)),
  () => db.findAwaitedRequest(on)(at.waitingRequest),
  () => db.findMovedRequests(on)([at.waitingRequest]),
  ...[undefined, /** @type {const} */ ('abandoned')].flatMap((state) =>
    [null, at.request].map((before) => () => db.listRequests(on)(at.account, state, before, 100)),
  ),
  () => db.settleRequest(on)({ ...SETTLEMENT, requestId: at.pendingRequest }),
  () => db.settleRequest(on)({ ...SETTLEMENT, requestId: at.undispatchedRequest }),
  () =>
    db.endRequest(on)({
      requestId: at.pendingRequest,
      reason: 'UPSTREAM_NO_ANSWER',
      event: EVENT,
      deliveryId: ID,
      now: NOW,
    }),
  () => db.overdueRequests(on)(at.soon, null, 1_000),
  () => db.findLiveRequests(on)([at.pendingRequest]),
  () => db.requestsToAbandon(on)(at.now, 500),
  () => db.runAlone(on)('sweep', async () => undefined),
  () =>
    db.releaseOrphans(on)({
      createdBefore: at.soon,
      now: at.now,
      giveUpAt: { live: at.soon, test: at.soon },
      maxPending: 200,
    }),
  () => db.recordMinutes(on)([{ memberState: 'DE', minute: NOW, end: 'answered', lookups: 1, lines: 1, buckets: [] }]),
  () => db.readUsualHours(on)(at.now),
  () => db.readBacklog(on)(at.now, ['DE', 'FR'], { accounts: 20, lines: 5_000 }),
  () => db.readRemaining(on)(at.account),
  () => db.readMinutes(on)(at.lately),
  () => db.deleteMinutes(on)(at.yesterday),
  () => db.readHours(on)(at.lately, at.now, 'DE'),
  () => db.readHours(on)(at.from, at.now, null),
  () => db.deleteHours(on)(at.lastYear),
  () => db.readWaits(on)(at.soon, 10_000),
  () => db.findDueWatches(on)(['DE', 'FR'])(at.soon, { waiting: 64, underWay: 1_000 }),
  () =>
    db.startRun(on)({
      watchId: at.watch,
      frequency: 'daily',
      requestId: ID,
      entries: [],
      now: at.now,
      giveUpAt: at.soon,
      quota: QUOTA,
      nextCheckAt: at.soon,
      retryAt: at.soon,
      asIfDue: true,
    }),
  () => db.findRunningWatch(on)(at.watchRequest),
  () => db.findOrFollowWatch(on)(at.watch, at.now),
  () => db.findWatch(on)(at.watch, at.account),
  () => db.listWatches(on)(at.account, at.watch, 100),
  () => db.listWatches(on)(at.account, null, 100),
  () => db.listChanges(on)(at.watch, at.account, null, 100),
  () => db.createWatch(on)({ ...WATCH, accountId: at.account }, 1_000_000, null),
  () => db.changeWatch(on)(at.watch, at.account, () => WATCH),
  () => db.changeWatch(on)(at.watch, at.account, () => ({ ...WATCH, state: 'paused' })),
  () => db.deleteWatch(on)(at.watch, at.account),
  () => db.findDelivery(on)(at.delivery, readerOf(at)),
  ...deliveryFiltersOf(at).flatMap((filter) => [
    () => db.listDeliveries(on, () => at.now)(readerOf(at), filter, null, 100),
    () => db.listDeliveries(on, () => at.now)({ ...readerOf(at), testOnly: true }, filter, at.delivery, 100),
  ]),
  () => db.findEvent(on)(at.event, readerOf(at)),
  ...[false, true].flatMap((testOnly) =>
    [{}, { type: /** @type {const} */ ('batch.completed') }, { from: at.from, to: at.to }].flatMap((filter) => [
      () => db.listEvents(on, () => at.now)({ ...readerOf(at), testOnly }, filter, null, 100),
      () => db.listEvents(on, () => at.now)({ ...readerOf(at), testOnly }, filter, at.event, 100),
    ]),
  ),
  ...[null, at.event].map((after) => () => db.findEventPosition(on)(after, readerOf(at))),
  ...[false, true].flatMap((testOnly) =>
    [undefined, /** @type {const} */ ('batch.completed')].flatMap((type) => [
      () =>
        db.listEventsAfter(on)({ ...readerOf(at), testOnly }, type, { position: at.eventPosition, id: at.event }, 100),
      () => db.listEventsAfter(on)({ ...readerOf(at), testOnly }, type, { position: '0', id: ID }, 100),
    ]),
  ),
  () => db.findNewestPositions(on)([at.account, at.smallAccount]),
  () => db.overdueDeliveries(on)(at.soon, null, 1_000),
  () => db.findPendingDeliveries(on)([at.pendingDelivery]),
  () => db.claimDelivery(on)({ deliveryId: at.pendingDelivery, number: 1, now: at.soon, leasedUntil: at.soon }),
  () => db.claimDelivery(on)({ deliveryId: at.delivery, number: 1, now: at.now, leasedUntil: at.now }),
  () =>
    of(at.pendingDelivery, ID)(db.claimDelivery(on), (deliveryId) => ({
      deliveryId,
      number: 1,
      now: at.soon,
      leasedUntil: at.soon,
    })),
  () => db.releaseDelivery(on)({ deliveryId: at.pendingDelivery, number: 1, leasedUntil: at.now }),
  () =>
    db.recordAttempt(on)({
      deliveryId: at.pendingDelivery,
      attempt: ATTEMPT,
      plan: { state: 'successful', nextAttemptAt: null },
      leasedUntil: at.now,
    }),
  () =>
    of(at.pendingDelivery, ID)(db.recordAttempt(on), (deliveryId) => ({
      ...{ deliveryId, attempt: ATTEMPT, leasedUntil: at.now },
      plan: { state: /** @type {const} */ ('successful'), nextAttemptAt: null },
    })),
  () => db.deleteOldDeliveries(on)(at.early),
  () => db.endRemovedDeliveries(on)(at.now, [at.pendingDelivery]),
  () => db.holdDeliveries(on)([at.pendingDelivery]),
  () => db.resumeDeliveries(on)(100),
  () => db.sendTestEvent(on, 1)({ accountId: at.account, test: false, event: EVENT, deliveryId: ID, now: at.now }),
  () => db.sendTestEvent(on, 1_000)({ accountId: at.account, test: false, event: EVENT, deliveryId: ID, now: at.now }),
  () => db.resendDelivery(on, 1_000)({ deliveryId: at.delivery, reader: readerOf(at), newDeliveryId: ID, now: at.now }),
  ...[{ status: /** @type {const} */ ('failed') }, { event: /** @type {const} */ ('check.completed') }, {}].map(
    (filter) => () => db.resendDeliveries(on, RESEND)(resendOf(at, filter)),
  ),
  () => db.resendDeliveries(on, { ...RESEND, matched: -1 })(resendOf(at, {})),
  () => db.removeWebhook(on)(at.account, at.now),
  () =>
    db.saveWebhook(on)({ accountId: at.account, url: '', secretSealed: BYTES, secretPrefix: '', configuredAt: NOW }),
  () => db.sealedWebhooks(on).replace([ROW]),
  () => db.readClock(on)(),
  () => db.readTables(on)(),
];
