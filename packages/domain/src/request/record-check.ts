import { type CheckBody, type CheckRecord, type MadeCheck, publicCheck, type StoredCheck } from '../check/check.js';
import type { CheckEntry } from '../check/entry.js';
import type { Answer, Exchange } from '../check/upstream.js';
import type { DueDelivery } from '../delivery/delivery.js';
import { checkCompletedBody, type NewEvent, type ObservedChange } from '../delivery/event-bodies.js';
import { newUuidAt, publicId } from '../ids.js';
import type { PublishChange } from '../page-update.js';
import type { BatchStep } from './ports.js';
import type { CheckRequest } from './request.js';

/**
 * A request that a job works on. `replyTo`: the process whose caller waits for the end; absent when no caller waits.
 * `replyWithCheck`: that process reads the check in the notification. `traceparent`: the span of the job (W3C Trace Context),
 * which the jobs that follow continue; absent while traces are off.
 */
export type RequestRef = {
  requestId: string;
  replyTo?: string | undefined;
  replyWithCheck?: boolean | undefined;
  traceparent?: string | undefined;
};

/** The lookup whose answer is recorded, where it was not stored before: both are then stored at once. */
type AnsweringLookup = { expectedAttempts: number; attempts: number; answer: Answer };

/** What the check of a run does to its watch. Every change has an event and a delivery. Ids are UUIDs. */
export type WatchRecord = {
  watchId: string;
  checkId: string;
  checkedAt: Date;
  seen: { valid: boolean; name: string | null; address: string | null };
  changes: (ObservedChange & { id: string; eventId: string; deliveryId: string; body: string })[];
  now: Date;
};

/** Port: compares the check of a run with its watch; undefined when the watch was deleted. */
export type ObserveWatch = (check: {
  id: string;
  requestId: string;
  answer: Answer;
  now: Date;
}) => Promise<WatchRecord | undefined>;

/** Everything that the end of a request with a check writes. */
export type Settlement = {
  requestId: string;
  entries: CheckEntry[];
  check: CheckRecord;
  /** False when the check consumes no unit (malformed): the reservation is released instead. */
  consumes: boolean;
  /** Exchanges that are not stored yet. */
  exchanges: Exchange[];
  lookup?: AnsweringLookup | undefined;
  /** Delivered only if the request was answered 202. */
  event: NewEvent;
  deliveryId: string;
  /** Whether lines of a batch wait for the check. */
  ofBatch?: boolean | undefined;
  watch?: WatchRecord | undefined;
  now: Date;
};

/** `batchId`: of the lines that are done with it. `null` when the request had ended or changed since it was read. */
export type Settled = { acceptedAt: Date | null; deliveryIds: string[]; batchId: string | null } | null;

export type RecordCheckDeps = {
  make: (request: CheckRequest, answer: Answer) => MadeCheck;
  observeWatch: ObserveWatch;
  /** Stores all of a settlement in one transaction, once. */
  settleRequest: (settlement: Settlement) => Promise<Settled>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Called for every recorded request of a batch. */
  advanced: (step: BatchStep) => void;
  publishChange: PublishChange;
  /** Notifies the process whose caller waits, with the check that was recorded. Never rejects. */
  notifyCaller: (ref: RequestRef, check?: StoredCheck) => Promise<void>;
  onRecorded: (body: CheckBody, ref: RequestRef) => void;
  now: () => Date;
};

type CheckToRecord = {
  ref: RequestRef;
  /** With all its entries. */
  request: CheckRequest;
  answer: Answer;
  exchanges: Exchange[];
  lookup?: AnsweringLookup;
};

/** Makes the check of an answered request and records it with everything it causes, in one transaction, once. */
export const recordCheck = (deps: RecordCheckDeps) => {
  const publish = ({ accountId, origin }: CheckRequest, body: CheckBody, settled: NonNullable<Settled>): void => {
    deps.publishChange(accountId, 'checks', body.id);
    if (settled.batchId !== null) deps.publishChange(accountId, 'batches', publicId('batch', settled.batchId));
    if (settled.acceptedAt !== null) deps.publishChange(accountId, 'requests', body.request_id);
    if (origin === 'watch') deps.publishChange(accountId, 'watches');
  };

  return async ({ ref, request, answer, exchanges, lookup }: CheckToRecord): Promise<Settled> => {
    const now = deps.now();
    const { id: requestId, origin } = request;
    const { hashed, check } = deps.make(request, answer);
    const settled = await deps.settleRequest({
      requestId,
      entries: request.entries,
      check,
      consumes: answer.verdict !== 'malformed',
      exchanges,
      lookup,
      event: { id: newUuidAt(now), type: 'check.completed', body: checkCompletedBody(request, publicCheck(hashed)) },
      deliveryId: newUuidAt(now),
      ofBatch: origin === 'batch',
      watch: origin === 'watch' ? await deps.observeWatch({ id: check.id, requestId, answer, now }) : undefined,
      now,
    });
    // First: a caller waits for it.
    const notified = settled ? deps.notifyCaller(ref, check) : deps.notifyCaller(ref);
    if (settled) {
      deps.onRecorded(hashed.body, ref);
      if (origin === 'batch') deps.advanced({ memberState: request.memberState, batchId: settled.batchId });
      publish(request, hashed.body, settled);
    }
    await notified;
    const { traceparent } = ref;
    for (const id of settled?.deliveryIds ?? [])
      await deps.enqueueDelivery({ id, accountId: request.accountId, attempt: 1, dueAt: now, traceparent });
    return settled;
  };
};
