import { setMaxListeners } from 'node:events';
import {
  type CallUpstream,
  type CheckRequest,
  type Lookup,
  type LookupNoAnswer,
  type LookupOutcome,
  type LookupSlot,
  lookupEndOf,
  type MemberState,
  needsOperator,
  type performLookup,
} from '@vat/domain';
import { type JobHandler, priorityClassOf, type RequestJob } from '@vat/queues';
import type { Metrics } from '@vat/runtime';
import type { Pacing, UpstreamStatistics } from '../upstreams.js';
import { requestOfJob } from './settle-check.js';

/** Performs one lookup of a request's number and puts the job back when the request needs another one. */
export const performLookupJob =
  (perform: ReturnType<typeof performLookup>): JobHandler<RequestJob> =>
  async (job) => {
    const step = await perform(requestOfJob(job));
    if (step === null) return undefined;
    if ('pauseMs' in step) return { pauseQueueMs: step.pauseMs };
    return step.request ? { again: step.at, priority: priorityClassOf(step.request) } : { again: step.at };
  };

type LookUpWithinSlotDeps = {
  lookUp: (request: CheckRequest, signal: AbortSignal) => ReturnType<CallUpstream>;
  markLookupStarted: (id: string, attempts: number, since: Date) => Promise<void>;
  /** Aborts when a stopping process no longer waits for open lookups. */
  abortLookups: AbortSignal;
};

/** A lookup that is still open after this time is marked on its row. */
const MARK_AFTER_MS = 200;

/** Looks a number up while its slot is held; null when this service aborted the lookup or lost the slot. */
export const lookUpWithinSlot = ({ lookUp, markLookupStarted, abortLookups }: LookUpWithinSlotDeps) => {
  // One for each session of slots: a combined signal for each lookup would cost more than the rest of this function.
  const combined = new WeakMap<AbortSignal, AbortSignal>();
  const endOf = (lost: AbortSignal): AbortSignal => {
    const known = combined.get(lost);
    if (known) return known;
    const signal = AbortSignal.any([lost, abortLookups]);
    setMaxListeners(0, signal); // one listener for each lookup in flight, so more than Node's ten
    combined.set(lost, signal);
    return signal;
  };
  return async (request: CheckRequest, slot: LookupSlot | null, startedAt: Date): Promise<Lookup | null> => {
    const isLost = () => slot?.isHeld() === false;
    if (isLost()) return null;
    const signal = slot ? endOf(slot.lost) : abortLookups;
    // The delay saves quick lookups the write.
    const mark = setTimeout(() => {
      markLookupStarted(request.id, request.attempts, startedAt).catch(() => undefined);
    }, MARK_AFTER_MS);
    try {
      const lookup = await lookUp(request, signal);
      // A process that was suspended reads answers that came long ago, and others look up the same number.
      return isLost() || (signal.aborted && lookup.outcome.kind === 'no_answer') ? null : lookup;
    } finally {
      clearTimeout(mark);
    }
  };
};

type ObserveOutcomeDeps = {
  pacing: Pick<Pacing, 'note'>;
  statistics: Pick<UpstreamStatistics, 'note'>;
  /** Called for every outcome that an operator must act on. */
  alarm: (memberState: MemberState, outcome: LookupNoAnswer) => void;
  metrics: Pick<Metrics, 'lookups'>;
};

/** Applies an outcome of the upstream to pacing, statistics, alarms and metrics. */
export const observeOutcome =
  ({ pacing, statistics, alarm, metrics }: ObserveOutcomeDeps) =>
  (memberState: MemberState, outcome: LookupOutcome, durationMs: number, endsLine: boolean): void => {
    pacing.note(outcome);
    if (needsOperator(outcome)) alarm(memberState, outcome);
    const label = outcome.kind === 'no_answer' ? outcome.outcome : outcome.kind;
    metrics.lookups.observe({ member_state: memberState, outcome: label }, durationMs / 1_000);
    statistics.note(memberState, lookupEndOf(outcome), durationMs, endsLine);
  };
