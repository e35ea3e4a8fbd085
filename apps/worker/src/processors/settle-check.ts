import type { Settled, Settlement, WatchRecord } from '@vat/db';
import {
  type Answer,
  type CheckRequest,
  checkBody,
  checkCompletedBody,
  type DueDelivery,
  ENRICHMENT_DEADLINE_MS,
  type EnrichmentSource,
  type EnrichmentSubject,
  type Exchange,
  enrichCheck,
  type FindRequest,
  type HashCheck,
  newUuid,
  observeChanges,
  type PublishChange,
  publicCheck,
  publicId,
  type RunningWatch,
  watchChangedBody,
} from '@vat/domain';
import type { JobHandler, RequestJob } from '@vat/queues';
import type { Logger } from '@vat/runtime';
import type { BatchStep } from '../batch-progress.js';
import { splitVatNumber } from '../upstreams.js';

/** What the national sources are told about an answer; null when they are not asked at all: test requests, malformed numbers. */
export const enrichmentSubject = (request: CheckRequest, answer: Answer): EnrichmentSubject | null =>
  request.test || answer.verdict === 'malformed'
    ? null
    : {
        memberState: request.memberState,
        national: request.national,
        valid: answer.verdict === 'valid',
        name: answer.name,
        address: answer.address,
        requester: request.requester === null ? null : splitVatNumber(request.requester),
        trader: request.trader,
        registerId: null,
        accountId: request.accountId,
        callerWaits: request.origin === 'direct' && request.state === 'waiting',
      };

type MakeCheckDeps = { hashCheck: HashCheck; newSalt: () => string };

/** A check that is not recorded yet: as it is shown, and as it is stored. */
type MadeCheck = { hashed: ReturnType<HashCheck>; check: Settlement['check'] };

/** Makes the check of a request that was answered. */
export const makeCheck =
  ({ hashCheck, newSalt }: MakeCheckDeps) =>
  (request: CheckRequest, answer: Answer): MadeCheck => {
    const id = newUuid();
    const hashed = hashCheck(checkBody(id, request, answer, newSalt()));
    const check = {
      id,
      vatNumber: request.vatNumber,
      valid: answer.verdict === 'valid',
      reference: request.reference,
      checkedAt: new Date(answer.answeredAt),
      bytes: hashed.bytes,
      hash: hashed.hash,
    };
    return { hashed, check };
  };

type ObserveWatchDeps = { findRunningWatch: (requestId: string) => Promise<RunningWatch | null> };

/** A check on its way into the record. */
type CheckOfRun = { id: string; request: Pick<CheckRequest, 'id'>; answer: Answer; now: Date };

/**
 * What the check of a watch's run changes, with an event for each change; undefined when the watch was deleted meanwhile.
 * What the watch remembers is changed by the end of its run alone, so what is read here holds until then: the statement
 * that writes it down looks whether the run is still the watch's.
 */
export const observeWatch =
  ({ findRunningWatch }: ObserveWatchDeps) =>
  async ({ id: checkId, request, answer, now }: CheckOfRun): Promise<WatchRecord | undefined> => {
    const watch = await findRunningWatch(request.id);
    if (!watch) return undefined;
    const { id: watchId, vatNumber, label } = watch;
    const seen = { valid: answer.verdict === 'valid', name: answer.name, address: answer.address };
    const changes = observeChanges({ valid: watch.lastValid, whenValid: watch.whenValid }, seen).map((change) => {
      const told = { ...change, watchId, vatNumber, label, checkId };
      return { ...told, id: newUuid(), eventId: newUuid(), deliveryId: newUuid(), body: watchChangedBody(told) };
    });
    return { watchId, checkId, checkedAt: new Date(answer.answeredAt), seen, changes, now };
  };

type RecordCheckDeps = {
  make: ReturnType<typeof makeCheck>;
  observeWatch: ReturnType<typeof observeWatch>;
  settleRequest: (settlement: Settlement) => Promise<Settled>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Told of every request of a batch that was recorded. */
  advanced: (step: BatchStep) => void;
  publishChange: PublishChange;
  hint: (job: RequestJob) => Promise<void>;
  now: () => Date;
  log: Logger;
};

type CheckToRecord = {
  job: RequestJob;
  /** With all its entries. */
  request: CheckRequest;
  answer: Answer;
  exchanges: Exchange[];
  ask?: Settlement['ask'];
};

/** Makes the check and records it with everything it causes, in one transaction, once. Tells who waits; null when too late. */
export const recordCheck =
  ({ make, observeWatch, settleRequest, enqueueDelivery, advanced, publishChange, hint, now, log }: RecordCheckDeps) =>
  async ({ job, request, answer, exchanges, ask }: CheckToRecord): Promise<Settled> => {
    const at = now();
    const { hashed, check } = make(request, answer);
    const settled = await settleRequest({
      requestId: request.id,
      entries: request.entries,
      check,
      consumes: answer.verdict !== 'malformed',
      exchanges,
      ask,
      event: { id: newUuid(), type: 'check.completed', body: checkCompletedBody(request, publicCheck(hashed)) },
      deliveryId: newUuid(),
      ofBatch: request.origin === 'batch',
      watch: request.origin === 'watch' ? await observeWatch({ id: check.id, request, answer, now: at }) : undefined,
      now: at,
    });
    if (settled)
      log.debug('A check was recorded.', { request: request.id, check_id: hashed.body.id, verdict: answer.verdict });
    if (settled && request.origin === 'batch') advanced({ memberState: request.memberState, batchId: settled.batchId });
    if (settled) {
      publishChange(request.accountId, 'checks', publicId('check', check.id));
      if (settled.batchId !== null) publishChange(request.accountId, 'batches', publicId('batch', settled.batchId));
      if (settled.acceptedAt !== null) publishChange(request.accountId, 'requests', publicId('request', request.id));
      if (request.origin === 'watch') publishChange(request.accountId, 'watches');
    }
    await hint(job);
    for (const deliveryId of settled?.deliveryIds ?? [])
      await enqueueDelivery({ id: deliveryId, accountId: request.accountId, attempt: 1, dueAt: at });
    return settled;
  };

type SettleCheckDeps = {
  findRequest: FindRequest;
  sources: readonly EnrichmentSource[];
  recordCheck: ReturnType<typeof recordCheck>;
};

/** Enriches an answered request and records its check: everything the answer causes, in one transaction, once. */
export const settleCheck =
  ({ findRequest, sources, recordCheck }: SettleCheckDeps): JobHandler<RequestJob> =>
  async (job) => {
    const found = await findRequest(job.request_id);
    const request = found?.request;
    if (!request?.answer || (request.state !== 'waiting' && request.state !== 'pending')) return undefined;

    const { answer } = request;
    const subject = enrichmentSubject(request, answer);
    // Together they end within the deadline: it bounds the whole of a check.
    const findings =
      subject === null ? [] : await enrichCheck(sources, subject, AbortSignal.timeout(ENRICHMENT_DEADLINE_MS));
    const entries = [...request.entries, ...findings.map((finding) => finding.entry)];
    const exchanges = findings.flatMap((finding) => finding.exchange ?? []);
    await recordCheck({ job, request: { ...request, entries }, answer, exchanges });
    return undefined;
  };
