import type { Slot, storeLookup } from '@vat/db';
import {
  type AbandonReason,
  type CheckRequest,
  checkFailedBody,
  type DueDelivery,
  decideLookup,
  type EndRequest,
  type Exchange,
  type FindRequest,
  type LookUp,
  type LookupEnd,
  type LookupNoAnswer,
  type LookupOutcome,
  type MemberState,
  needsOperator,
  newUuid,
  type PublishChange,
  publicId,
  SUSPEND_AFTER_MS,
  type UpstreamPolicy,
} from '@vat/domain';
import { type JobHandler, type JobResult, type PriorityClass, priorityClassOf, type RequestJob } from '@vat/queues';
import type { Logger, Metrics } from '@vat/runtime';
import type { BatchStep } from '../batch-progress.js';
import type { persistAnswer, Recordings } from '../recordings.js';
import type { Pacing, UpstreamStatistics } from '../upstreams.js';

type PerformLookupDeps = {
  /** The member state this queue asks about; null for the sandbox, which has no slots. */
  memberState: MemberState | null;
  takeSlot: (memberState: MemberState) => Promise<Slot | null>;
  pacing: Pacing;
  beginLookup: (id: string, now: Date) => Promise<CheckRequest | null>;
  markLookupStarted: (id: string, attempts: number, since: Date) => Promise<void>;
  findRequest: FindRequest;
  ask: (request: CheckRequest, signal: AbortSignal) => ReturnType<LookUp>;
  storeLookup: ReturnType<typeof storeLookup>;
  persistAnswer: ReturnType<typeof persistAnswer>;
  recordings: Pick<Recordings, 'start' | 'room'>;
  endRequest: EndRequest;
  enqueueSettle: (job: RequestJob, priority: PriorityClass) => Promise<void>;
  /** Told of every request of a batch that leaves its member state's window. */
  advanced: (step: BatchStep) => void;
  /** Has the member state's lines fed at a later moment; a failure is no harm. */
  feedAt: (memberState: MemberState, at: Date) => Promise<void>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  publishChange: PublishChange;
  hint: (job: RequestJob) => Promise<void>;
  policyOf: (test: boolean) => UpstreamPolicy;
  /** Aborts when a stopping process no longer waits for open asks. */
  abortLookups: AbortSignal;
  now: () => Date;
  log: Logger;
  metrics: Metrics;
  tally: Pick<UpstreamStatistics, 'note'>;
  /** Called for every outcome that an operator must act on. */
  alarm: (memberState: MemberState, outcome: LookupNoAnswer) => void;
};

/** Both slots are taken although the queue let the job through: after a loss of Redis, or while a stalled run still asks. */
const SLOT_TAKEN_RETRY_MS = 100;

/** A refusal is an answer too: the upstream worked. */
const lookupEnd = (outcome: LookupOutcome): LookupEnd =>
  outcome.kind !== 'no_answer' ? 'answered' : outcome.outcome === 'saturated' ? 'saturated' : 'unavailable';

/** An ask that is still open after this is noted on its row. */
const MARK_AFTER_MS = 200;

/** Asks the upstream once for a request, keeps what came, and says what follows from it. */
export const performLookup = (deps: PerformLookupDeps): JobHandler<RequestJob> => {
  const later = (ms: number): JobResult => ({ again: new Date(deps.now().getTime() + ms) });
  const classOf = ({ origin, state }: CheckRequest) => priorityClassOf({ origin, pending: state === 'pending' });
  /** A line that is not asked again for long leaves Redis to those that can be asked; feeding brings it back. */
  const isSuspended = ({ origin, dueAt }: Pick<CheckRequest, 'origin' | 'dueAt'>): boolean =>
    origin === 'batch' && dueAt.getTime() - deps.now().getTime() > SUSPEND_AFTER_MS;

  /** Nothing was to be asked: the request has ended, is answered, or is not due yet. */
  const nothingToLookUp = async (job: RequestJob): Promise<JobResult> => {
    const found = await deps.findRequest(job.request_id);
    const request = found?.request;
    if (!request || (request.state !== 'waiting' && request.state !== 'pending')) return undefined;
    if (request.answer === null) return isSuspended(request) ? undefined : { again: request.dueAt };
    await deps.enqueueSettle(job, classOf(request));
    return undefined;
  };

  /** Of a request that moved without a check. */
  const tellOf = ({ accountId, origin, id }: CheckRequest): void => {
    if (origin === 'direct') deps.publishChange(accountId, 'requests', publicId('request', id));
    else deps.publishChange(accountId, origin === 'batch' ? 'batches' : 'watches');
  };

  const end = async (request: CheckRequest, job: RequestJob, reason: AbandonReason): Promise<undefined> => {
    const body = checkFailedBody(request, reason, request.lastError);
    const at = deps.now();
    const ended = await deps.endRequest({
      requestId: request.id,
      reason,
      event: { id: newUuid(), type: 'check.failed', body },
      deliveryId: newUuid(),
      now: at,
    });
    if (ended) deps.log.info('A request ended without a check.', { request: request.id, reason });
    if (ended && request.origin === 'batch')
      deps.advanced({ memberState: request.memberState, batchId: ended.batchId });
    if (ended) tellOf(request);
    await deps.hint(job);
    if (ended?.deliveryId)
      await deps.enqueueDelivery({ id: ended.deliveryId, accountId: request.accountId, attempt: 1, dueAt: at });
    return undefined;
  };

  /** Why a request must not be asked any more; null when it may. */
  const endOf = (request: CheckRequest, now: Date): AbandonReason | null => {
    if (request.state !== 'pending') return null;
    if (request.accountDisabled) return 'ACCOUNT_DISABLED';
    return request.giveUpAt !== null && request.giveUpAt <= now ? 'UPSTREAM_NO_ANSWER' : null;
  };

  const record = async (
    job: RequestJob,
    request: CheckRequest,
    asked: Awaited<ReturnType<LookUp>>,
    startedAt: Date,
  ): Promise<JobResult> => {
    const endedAt = deps.now();
    const policy = deps.policyOf(request.test);
    // Nobody waits for the slot of a line or a watch.
    const backpressure =
      request.origin === 'direct' && startedAt.getTime() - request.dueAt.getTime() > policy.backpressureAfterMs;
    const decision = decideLookup(request, { outcome: asked.outcome, startedAt, endedAt, backpressure }, policy);
    const source = request.unconfirmed === null ? 'vies' : 'vies_confirmation';
    const exchange: Exchange | null = request.test ? null : { ...asked.exchange, source };
    const dueAt = decision.next.kind === 'ask_again' ? decision.next.at : endedAt;
    const suspend = decision.next.kind === 'ask_again' && isSuspended({ origin: request.origin, dueAt });
    const ask = { requestId: request.id, expectedAttempts: request.attempts, decision, exchange, suspend, dueAt };
    if (decision.next.kind === 'settle') {
      const { answer } = decision.next;
      // The queue runs as many jobs as there are slots: one that stayed to write its answer down would leave a slot idle.
      deps.recordings.start(async () => {
        if (!(await deps.persistAnswer({ job, request, answer, ask }))) await nothingToLookUp(job);
      });
      return undefined;
    }
    const stored = await deps.storeLookup(ask);
    if (!stored) return nothingToLookUp(job);
    if (decision.next.kind === 'refuse')
      return end({ ...request, lastError: decision.lastError }, job, decision.next.reason);
    if (suspend) {
      deps.advanced({ memberState: request.memberState, batchId: null });
      await deps.feedAt(request.memberState, stored.dueAt);
      return undefined;
    }
    if (stored.state === 'pending' && request.origin === 'direct') tellOf(request);
    const inBackground = stored.state === 'pending' || decision.backgroundRetries > request.backgroundRetries;
    return { again: stored.dueAt, priority: priorityClassOf({ origin: request.origin, pending: inBackground }) };
  };

  /** Asks while the slot is held; `null` when the ask was cut short by ourselves, which is no attempt. */
  const askWithin = async (request: CheckRequest, slot: Slot | null, startedAt: Date) => {
    const signal = slot ? AbortSignal.any([slot.lost, deps.abortLookups]) : deps.abortLookups;
    // A quick answer is spared the write.
    const mark = setTimeout(() => {
      deps.markLookupStarted(request.id, request.attempts, startedAt).catch(() => undefined);
    }, MARK_AFTER_MS);
    try {
      const asked = await deps.ask(request, signal);
      return signal.aborted && asked.outcome.kind === 'no_answer' ? null : asked;
    } finally {
      clearTimeout(mark);
    }
  };

  /** What an ask of the upstream tells about the upstream itself. */
  const note = ({ memberState }: CheckRequest, outcome: LookupOutcome, startedAt: Date): void => {
    const seconds = (deps.now().getTime() - startedAt.getTime()) / 1_000;
    if (outcome.retryAfter) deps.pacing.noteRetryAfter(memberState, outcome.retryAfter);
    if (outcome.kind === 'no_answer') deps.pacing.noteNoAnswer(memberState, outcome);
    if (needsOperator(outcome)) deps.alarm(memberState, outcome);
    const ended = outcome.kind === 'no_answer' ? outcome.outcome : outcome.kind;
    deps.metrics.asks.observe({ member_state: memberState, outcome: ended }, seconds);
    deps.tally.note(memberState, lookupEnd(outcome), seconds * 1_000);
  };

  return async (job) => {
    const { memberState } = deps;
    const wait = memberState === null ? 0 : deps.pacing.holdMs(memberState);
    if (wait > 0) return later(wait);
    // A backlog of answers that Postgres does not take must not grow without end.
    await deps.recordings.room();
    // Side by side: the row is nearly always due, and each is a round trip that a caller waits for.
    const reading = deps.beginLookup(job.request_id, deps.now());
    reading.catch(() => undefined);
    const slot = memberState === null ? null : await deps.takeSlot(memberState);
    if (memberState !== null && slot === null) return later(SLOT_TAKEN_RETRY_MS);

    let request: CheckRequest | null;
    let asked: Awaited<ReturnType<LookUp>> | null;
    let startedAt = deps.now();
    try {
      request = await reading;
      if (request === null) return await nothingToLookUp(job);
      startedAt = deps.now();
      if (request.origin === 'direct' && !request.test)
        deps.metrics.slotWaits.observe(
          { member_state: request.memberState },
          Math.max(0, (startedAt.getTime() - request.dueAt.getTime()) / 1_000),
        );
      const reason = endOf(request, startedAt);
      if (reason !== null) return await end(request, job, reason);
      asked = await askWithin(request, slot, startedAt);
      if (asked === null) return later(0);
    } finally {
      // The slot is for the ask alone; recording neither needs it nor waits for it to be given back.
      slot?.release();
    }
    // The sandbox is not the upstream: what it says slows nobody down and is no figure of the upstream's.
    if (!request.test) note(request, asked.outcome, startedAt);
    return record(job, request, asked, startedAt);
  };
};
