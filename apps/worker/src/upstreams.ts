import {
  bucketOf,
  type CheckRequest,
  DURATION_BOUNDS_MS,
  type LookUp,
  type LookupEnd,
  type LookupNoAnswer,
  lookupOf,
  type MemberState,
  type MinuteTally,
  type RetryAfter,
  readVatNumber,
  type SplitVatNumber,
} from '@vat/domain';
import { answerSandbox } from '@vat/vies';

/** A normalised number, split for VIES; null when no covered country's syntax accepts it. */
export const splitVatNumber = (vatNumber: string): SplitVatNumber | null => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'well_formed' ? { memberState: read.memberState, national: read.national } : null;
};

/** Asks for a request; see {@link LookUp}. */
type LookUpRequest = (request: CheckRequest, signal: AbortSignal) => ReturnType<LookUp>;

/** Looks a request's number up at VIES, alone once VIES has refused it with requester or trader. */
export const lookUpInVies =
  (ask: LookUp): LookUpRequest =>
  (request, signal) =>
    ask(lookupOf(request), signal);

/** Answers a test key's request within the process. Nothing is sent, so its exchange is empty and is not kept. */
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

/** After a saturated answer its member state (or every one, for GLOBAL_*) rests this long in this process. */
const REST_MS = 250;
/** After IP_BLOCKED everything rests this long: it is said to the service, and lookingUp a wall more often makes it higher. */
const BLOCKED_REST_MS = 3_000;

/** Slows asks down after the upstream said it has too many. Per process: each of them hears it from the upstream itself. */
export type Pacing = {
  /** Milliseconds until this member state may be asked again; 0 when it may now. */
  holdMs: (memberState: MemberState) => number;
  noteNoAnswer: (memberState: MemberState, outcome: LookupNoAnswer) => void;
  /** The upstream said when to come back. What concerns one request alone is in its row, and delays no other. */
  noteRetryAfter: (memberState: MemberState, retryAfter: RetryAfter) => void;
};

export const createPacing = (now: () => Date): Pacing => {
  const restUntil = new Map<MemberState | 'every', number>();
  const rest = (who: MemberState | 'every', ms: number): void => {
    restUntil.set(who, Math.max(restUntil.get(who) ?? 0, now().getTime() + ms));
  };
  return {
    holdMs: (memberState) => {
      const until = Math.max(restUntil.get(memberState) ?? 0, restUntil.get('every') ?? 0);
      return Math.max(0, until - now().getTime());
    },
    noteNoAnswer: (memberState, { outcome, scope, code }) => {
      if (outcome === 'saturated') rest(scope === 'global' ? 'every' : memberState, REST_MS);
      // Not after VAT_BLOCKED: that is about a number somebody sends, who could hold up everybody else with it.
      if (outcome === 'blocked' && code === 'IP_BLOCKED') rest('every', BLOCKED_REST_MS);
    },
    noteRetryAfter: (memberState, { ms, scope }) => {
      if (scope !== 'request') rest(scope === 'global' ? 'every' : memberState, ms);
    },
  };
};

export type UpstreamStatistics = {
  note: (memberState: MemberState, end: LookupEnd, durationMs: number) => void;
  /** Writes what was counted since the last time; what cannot be written is counted again next time. */
  flush: () => Promise<void>;
};

/**
 * Counts asks in memory and hands them on by the minute: what the status page shows is worth no write an ask. What a
 * worker that dies had not handed on yet is lost, and nothing depends on it.
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
    known.asks += tally.asks;
    for (const [n, count] of tally.buckets.entries()) known.buckets[n] = (known.buckets[n] ?? 0) + count;
  };

  return {
    note: (memberState, end, durationMs) => {
      const minute = new Date(Math.floor(now().getTime() / 60_000) * 60_000);
      const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
      buckets[bucketOf(durationMs)] = 1;
      add({ memberState, minute, end, asks: 1, buckets });
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
