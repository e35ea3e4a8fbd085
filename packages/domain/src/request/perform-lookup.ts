import type { CallUpstream, Exchange, LookupOutcome } from '../check/upstream.js';
import type { DueDelivery } from '../delivery/delivery.js';
import type { AbandonReason } from '../delivery/event-bodies.js';
import { publicId } from '../ids.js';
import type { LookupEnd } from '../member-state-health.js';
import type { MemberState } from '../member-states.js';
import type { PublishChange } from '../page-update.js';
import { abandonRequest } from './abandon-request.js';
import { decideLookup } from './decide-lookup.js';
import { abandonReasonOf } from './give-up.js';
import { lookupSourceOf } from './lookup.js';
import type { LookupGate } from './lookup-gate.js';
import type { BatchStep, EndedRequest, EndRequest, FindRequest } from './ports.js';
import type { RequestRef } from './record-check.js';
import type { CheckRequest, UpstreamPolicy } from './request.js';
import type { AnswerToPersist, LookupToStore, StoreLookup } from './settle-check.js';

/**
 * The right to one lookup of a member state. `lost` aborts when the slot is lost while it is held. `isHeld` is
 * called before and after a lookup: in a process that was suspended it is false before the loss is noticed otherwise.
 */
export type LookupSlot = { lost: AbortSignal; isHeld: () => boolean; release: () => void };

/** One lookup with its exchange. */
export type Lookup = Awaited<ReturnType<CallUpstream>>;

/** Port: work that stores what a lookup found. */
export type Recordings = {
  /**
   * Starts `work` for a request at once and repeats it while it fails, for a limited time. Continues after its job has ended.
   * Never throws.
   */
  start: (requestId: string, work: () => Promise<unknown>) => void;
  /** Whether work for this request has started and not ended. */
  isOpen: (requestId: string) => boolean;
  /** Like `start`, for work whose result the job needs. Throws the last error when the time is over. */
  complete: <T>(requestId: string, work: () => Promise<T>) => Promise<T>;
  /** Resolves when more may be started. */
  room: () => Promise<void>;
};

type PerformLookupDeps = {
  /** The member state that is looked up; null for the sandbox, which has no slots. */
  memberState: MemberState | null;
  /** Milliseconds until this process may make lookups again. */
  holdMs: () => number;
  /** Whether the fleet may look the member state up. Never rejects. */
  gates: {
    /** Null when nothing holds it back. */
    read: (memberState: MemberState) => Promise<LookupGate | null>;
    /** Milliseconds to wait, for which the member state's jobs are paused; 0 when the lookup is to be made now. */
    enter: (memberState: MemberState, gate: LookupGate | null) => Promise<number>;
    /** Records how the lookup ended. */
    report: (memberState: MemberState, outcome: LookupOutcome) => Promise<void>;
  };
  /** Null when both slots are taken. */
  takeSlot: (memberState: MemberState) => Promise<LookupSlot | null>;
  /** Reads a request that is due for a lookup; null when it has ended, is answered or is not due yet. */
  beginLookup: (requestId: string, now: Date) => Promise<CheckRequest | null>;
  find: FindRequest;
  /** Looks the number up while the slot is held; null when the call was aborted by this service, which is no attempt. */
  lookUp: (request: CheckRequest, slot: LookupSlot | null, startedAt: Date, ref: RequestRef) => Promise<Lookup | null>;
  storeLookup: StoreLookup;
  persistAnswer: (answer: AnswerToPersist) => Promise<boolean>;
  recordings: Recordings;
  endRequest: EndRequest;
  /** Never rejects. */
  enqueueSettle: (ref: RequestRef, request: CheckRequest) => Promise<void>;
  /** Called for every request of a batch that leaves the window of its member state. */
  advanced: (step: BatchStep) => void;
  /** Dispatches the lines of a member state at a later time. A failure is harmless: the sweep does it. */
  dispatchAt: (memberState: MemberState, at: Date) => Promise<void>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  publishChange: PublishChange;
  /** Notifies the process whose caller waits. Never rejects. */
  notifyCaller: (ref: RequestRef) => Promise<void>;
  policyOf: (test: boolean) => UpstreamPolicy;
  /** Called with the time that a live direct request waited for its slot. */
  onSlotWait: (memberState: MemberState, waitMs: number) => void;
  /** Called with every outcome of the upstream, not with those of the sandbox. `endsLine`: it ends a request of a batch. */
  onOutcome: (memberState: MemberState, outcome: LookupOutcome, durationMs: number, endsLine: boolean) => void;
  onAbandoned: (ref: RequestRef, reason: AbandonReason) => void;
  now: () => Date;
};

/**
 * `at`: when the job runs again; null when it is done. `request` is set when the job's priority may have changed. `pauseMs`:
 * no lookup of the member state can be made for that time, so its other jobs need not try; null when they are paused already.
 */
type LookupStep =
  | { at: Date; request?: { origin: CheckRequest['origin']; pending: boolean } }
  | { pauseMs: number | null }
  | null;

/** Both slots are taken although the queue admitted the job: after a loss of Redis, or while a stalled run is in flight. */
const SLOT_TAKEN_PAUSE_MS = 100;

/** A request of a batch leaves Redis when its next lookup is further off than this. In milliseconds. */
const SUSPEND_AFTER_MS = 2_000;

/** When the job of a request is started again whose answer is being stored. */
const OPEN_RECORDING_DELAY_MS = 1_000;

/** How a lookup ended for the health of its member state. A refusal is an answer: the upstream worked. */
export const lookupEndOf = (outcome: LookupOutcome): LookupEnd =>
  outcome.kind !== 'no_answer' ? 'answered' : outcome.outcome === 'saturated' ? 'saturated' : 'unavailable';

/** Looks a request's number up once, stores the result, and decides what follows from it. */
export const performLookup = (deps: PerformLookupDeps) => {
  /** A line whose next lookup is far off leaves Redis to lines that are due; dispatching brings it back. */
  const isSuspended = ({ origin, dueAt }: Pick<CheckRequest, 'origin' | 'dueAt'>): boolean =>
    origin === 'batch' && dueAt.getTime() - deps.now().getTime() > SUSPEND_AFTER_MS;

  /** Publishes that a request moved without a check. */
  const publish = ({ accountId, origin, id }: Pick<CheckRequest, 'accountId' | 'origin' | 'id'>): void => {
    if (origin === 'direct') deps.publishChange(accountId, 'requests', publicId('request', id));
    else deps.publishChange(accountId, origin === 'batch' ? 'batches' : 'watches');
  };

  /** The step of a job whose request has ended, is answered or is not due yet. */
  const skip = async (ref: RequestRef): Promise<LookupStep> => {
    const request = (await deps.find(ref.requestId))?.request;
    if (!request || (request.state !== 'waiting' && request.state !== 'pending')) return null;
    if (request.answer === null) return isSuspended(request) ? null : { at: request.dueAt };
    await deps.enqueueSettle(ref, request);
    return null;
  };

  const abandonOne = abandonRequest<CheckRequest & EndedRequest & RequestRef>({
    endRequest: deps.endRequest,
    onEnded: (request, { batchId }) => {
      deps.onAbandoned(request, request.reason);
      if (request.origin === 'batch') deps.advanced({ memberState: request.memberState, batchId });
      publish(request);
    },
    enqueueDelivery: deps.enqueueDelivery,
  });
  const abandon = async (request: CheckRequest, ref: RequestRef, reason: AbandonReason): Promise<null> => {
    await abandonOne({ ...request, ...ref, reason }, deps.now());
    await deps.notifyCaller(ref);
    return null;
  };

  const store = async (
    ref: RequestRef,
    request: CheckRequest,
    lookup: Lookup,
    startedAt: Date,
  ): Promise<LookupStep> => {
    const endedAt = deps.now();
    const policy = deps.policyOf(request.test);
    // No caller waits for the slot of a line or a watch.
    const backpressure =
      request.origin === 'direct' && startedAt.getTime() - request.dueAt.getTime() > policy.backpressureAfterMs;
    const decision = decideLookup(request, { outcome: lookup.outcome, startedAt, endedAt, backpressure }, policy);
    const { next } = decision;
    if (!request.test) {
      const endsLine = request.origin === 'batch' && next.kind !== 'retry';
      deps.onOutcome(request.memberState, lookup.outcome, endedAt.getTime() - startedAt.getTime(), endsLine);
    }
    const exchange: Exchange | null = request.test ? null : { ...lookup.exchange, source: lookupSourceOf(request) };
    const dueAt = next.kind === 'retry' ? next.at : endedAt;
    const suspend = next.kind === 'retry' && isSuspended({ origin: request.origin, dueAt });
    const toStore: LookupToStore = {
      requestId: request.id,
      expectedAttempts: request.attempts,
      decision,
      exchange,
      suspend,
      dueAt,
    };
    if (next.kind === 'settle') {
      const { answer } = next;
      // The queue runs as many jobs as there are slots: a job that waited for its answer to be stored would idle a slot.
      deps.recordings.start(request.id, async () => {
        if (!(await deps.persistAnswer({ ref, request, answer, lookup: toStore }))) await skip(ref);
      });
      return null;
    }
    const stored = await deps.recordings.complete(request.id, () => deps.storeLookup(toStore));
    if (!stored) return skip(ref);
    if (next.kind === 'refuse') return abandon({ ...request, lastError: decision.lastError }, ref, next.reason);
    if (suspend) {
      deps.advanced({ memberState: request.memberState, batchId: null });
      await deps.dispatchAt(request.memberState, stored.dueAt);
      return null;
    }
    if (stored.state === 'pending' && request.origin === 'direct') publish(request);
    const pending = stored.state === 'pending' || decision.backgroundRetries > request.backgroundRetries;
    return { at: stored.dueAt, request: { origin: request.origin, pending } };
  };

  return async (ref: RequestRef): Promise<LookupStep> => {
    const { memberState } = deps;
    const holdMs = memberState === null ? 0 : deps.holdMs();
    if (holdMs > 0) return { pauseMs: holdMs };
    // The sweep re-added the job while the answer waits for Postgres. It must not be looked up again.
    if (deps.recordings.isOpen(ref.requestId)) return { at: new Date(deps.now().getTime() + OPEN_RECORDING_DELAY_MS) };
    // Bounds the answers that wait for Postgres.
    await deps.recordings.room();
    // In parallel: the row is nearly always due, and each is a round trip that a caller waits for.
    const reading = deps.beginLookup(ref.requestId, deps.now());
    reading.catch(() => undefined);
    const gate = memberState === null ? null : deps.gates.read(memberState);
    const slot = memberState === null ? null : await deps.takeSlot(memberState);
    if (memberState !== null && slot === null) return { pauseMs: SLOT_TAKEN_PAUSE_MS };

    let request: CheckRequest | null;
    let lookup: Lookup | null;
    let startedAt: Date;
    try {
      request = await reading;
      if (request === null) return await skip(ref);
      const reason = abandonReasonOf(request, deps.now());
      if (reason !== null) return await abandon(request, ref, reason);
      // Only now: a member state that is down is not to wait for a probe that is not made.
      const waitMs = memberState === null ? 0 : await deps.gates.enter(memberState, await gate);
      if (waitMs > 0) return { pauseMs: null };
      startedAt = deps.now();
      if (request.origin === 'direct' && !request.test)
        deps.onSlotWait(request.memberState, Math.max(0, startedAt.getTime() - request.dueAt.getTime()));
      lookup = await deps.lookUp(request, slot, startedAt, ref);
      if (lookup === null) return { at: deps.now() };
    } finally {
      // The slot is for the lookup alone: storing the result neither needs it nor waits for its release.
      slot?.release();
    }
    // The next job of the queue must find it reported.
    const reported = memberState === null ? undefined : deps.gates.report(memberState, lookup.outcome);
    const [step] = await Promise.all([store(ref, request, lookup, startedAt), reported]);
    return step;
  };
};
