import {
  addBuckets,
  bucketOf,
  type CallUpstream,
  type CheckRequest,
  DURATION_BOUNDS_MS,
  type LookupEnd,
  type LookupOutcome,
  lookupOf,
  type MemberState,
  type MinuteTally,
  splitVatNumber,
} from '@vat/domain';
import { answerSandbox } from '@vat/vies';

/** Looks a request's number up; see {@link CallUpstream}. */
type LookUpRequest = (request: CheckRequest, signal: AbortSignal) => ReturnType<CallUpstream>;

/** Looks a request's number up at VIES; without requester and trader once VIES has refused them. */
export const lookUpInVies =
  (lookUp: CallUpstream): LookUpRequest =>
  (request, signal) =>
    lookUp(lookupOf(request), signal);

/** Answers a test key's request within the process. Nothing is sent, so its exchange is empty and is not stored. */
export const lookUpInSandbox =
  (now: () => Date): LookUpRequest =>
  (request) =>
    Promise.resolve({
      outcome: answerSandbox(
        request.national,
        {
          background: request.acceptedAt !== null,
          requester: request.requester === null ? null : splitVatNumber(request.requester),
          trader: request.trader,
        },
        request.memberState,
      ),
      exchange: {
        source: 'vies',
        startedAt: now(),
        durationMs: 0,
        request: { method: 'POST', url: 'sandbox:', headers: {}, body: new Uint8Array() },
        response: null,
        error: null,
      },
    });

/** Pause of all lookups after GLOBAL_MAX_CONCURRENT_REQ. */
const SATURATED_PAUSE_MS = 250;
/** Pause of all lookups after IP_BLOCKED, which concerns the whole service: more lookups may prolong the block. */
const BLOCKED_PAUSE_MS = 3_000;

/**
 * Pauses all lookups after the upstream reported what concerns the whole service. Per process: the upstream reports it to each
 * of them. What concerns one member state is in its gate.
 * By a monotonic clock: when the shared one is set back, a pause of a quarter of a second would stop the queues of all member states
 * for as long as that.
 */
export type Pacing = {
  /** Milliseconds until lookups may be made again; 0 when they may be made now. */
  holdMs: () => number;
  note: (outcome: LookupOutcome) => void;
};

export const createPacing = (now = () => performance.now()): Pacing => {
  let pausedUntil = 0;
  const pause = (ms: number): void => {
    pausedUntil = Math.max(pausedUntil, now() + ms);
  };
  return {
    // Redis takes whole milliseconds.
    holdMs: () => Math.max(0, Math.ceil(pausedUntil - now())),
    note: (outcome) => {
      if (outcome.retryAfter?.scope === 'global') pause(outcome.retryAfter.ms);
      if (outcome.kind !== 'no_answer') return;
      if (outcome.outcome === 'saturated' && outcome.scope === 'global') pause(SATURATED_PAUSE_MS);
      // Not after VAT_BLOCKED, which concerns one number: its sender could delay all other customers.
      if (outcome.outcome === 'blocked' && outcome.code === 'IP_BLOCKED') pause(BLOCKED_PAUSE_MS);
    },
  };
};

export type UpstreamStatistics = {
  /** `endsLine`: the lookup ended a request of a batch. */
  note: (memberState: MemberState, end: LookupEnd, durationMs: number, endsLine: boolean) => void;
  /** Writes the counts since the last flush. After a failure they are part of the next one. */
  flush: () => Promise<void>;
};

/**
 * Counts lookups in memory and writes them by the minute: the status page does not justify a write a lookup. Counts that a
 * crashed worker had not written are lost; only the status page uses them.
 */
export const upstreamStatistics = (
  record: (tallies: MinuteTally[]) => Promise<void>,
  now: () => Date,
): UpstreamStatistics => {
  let counted = new Map<string, MinuteTally>();

  const add = (tally: MinuteTally): void => {
    const key = `${tally.memberState} ${tally.minute.getTime()} ${tally.end}`;
    const known = counted.get(key);
    if (!known) return void counted.set(key, tally);
    known.lookups += tally.lookups;
    known.lines += tally.lines;
    addBuckets(known.buckets, tally.buckets);
  };

  return {
    note: (memberState, end, durationMs, endsLine) => {
      const minute = new Date(Math.floor(now().getTime() / 60_000) * 60_000);
      const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
      buckets[bucketOf(durationMs)] = 1;
      add({ memberState, minute, end, lookups: 1, lines: endsLine ? 1 : 0, buckets });
    },
    flush: async () => {
      const tallies = [...counted.values()];
      counted = new Map();
      try {
        await record(tallies);
      } catch (error) {
        for (const tally of tallies) add(tally);
        throw error;
      }
    },
  };
};
