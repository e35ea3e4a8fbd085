import { setTimeout as wait } from 'node:timers/promises';
import type { EnrichmentSubject, ReserveCall, SearchBudget } from '@vat/domain';
import { createCircuit, createPace, type RecordedCall, retryAfterMs } from '@vat/outgoing';
import type { CallSource } from './open-source-calls.js';
import { readAnswer } from './read-answer.js';
import type { SourceDefinition, SourceRequest } from './source-definition.js';

/** How long a call may wait for its turn, as a share of its time-out. */
const MAX_WAIT_SHARE = 0.75;

/** The longest time that the fleet's pace may take to answer. After it this process spaces its own calls alone. */
const FLEET_ANSWER_MS = 250;

/** A source's Retry-After is respected within these limits. */
const MIN_BLOCK_MS = 1_000;
const MAX_BLOCK_MS = 3_600_000;

/**
 * Codes of entries that are skipped because the day's searches are used up, or because the source refuses this
 * service until midnight.
 */
const DAY_CODES = { exhausted: 'DAILY_SEARCHES_USED', blocked: 'BLOCKED_UNTIL_MIDNIGHT' } as const;

/** A call that was made, or the reason why none was made. */
export type Search = { call: RecordedCall } | { skip: string; code?: string };

export type SearchDeps = {
  call: CallSource;
  now: () => Date;
  today: (timeZone: string) => string;
  budget: SearchBudget;
  reserveCall: ReserveCall;
  /** Searches permitted in a day, for a source with a daily limit. */
  dailySearches: number;
};

type SearchInput = {
  request: SourceRequest;
  /** Any of the subjects of the request; all are of one account. */
  subject: EnrichmentSubject;
  /** Of the call itself. It waits up to {@link MAX_WAIT_SHARE} of this before. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
};

/** The Retry-After of a call within the limits; undefined when it has none. */
const blockMs = ({ response }: RecordedCall, now: Date): number | undefined => {
  const requestedMs = response && retryAfterMs(response.headers, now);
  return requestedMs === null ? undefined : Math.min(Math.max(requestedMs, MIN_BLOCK_MS), MAX_BLOCK_MS);
};

const within = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  const stop = new AbortController();
  const late = wait(ms, undefined, { signal: stop.signal }).then(() => Promise.reject(new Error('too late')));
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
};

/**
 * Makes the calls of one source within its daily limit, rate limit and circuit, and records the result of each call.
 */
export const makeSearch = (deps: SearchDeps, definition: SourceDefinition) => {
  const { now, budget } = deps;
  const { name, gapMs } = definition;
  const circuit = createCircuit({ now, pauseMs: definition.failurePauseMs });
  const ownPace = gapMs === undefined ? null : createPace({ gapMs });
  /**
   * The day on which the source blocks this service, so that no call is made even when the fleet's count cannot be
   * written.
   */
  let blockedDay: string | null = null;

  const dayOf = () => (definition.shared ? deps.today(definition.shared.timeZone) : null);

  const recordResult = (call: RecordedCall, subject: EnrichmentSubject, day: string | null): void => {
    const { outcome } = readAnswer(definition, call, subject, deps.today);
    if (call.end === 'aborted') circuit.aborted();
    else if (outcome === 'unavailable' || outcome === 'timeout') circuit.failed();
    else if (outcome !== 'blocked') circuit.answered();
    else if (day === null) circuit.blocked(blockMs(call, now()));
    else {
      blockedDay = day;
      circuit.answered();
      budget.block(name, day).catch(() => undefined);
    }
  };

  /** Counts one search of the day; returns the reason when the day permits none, otherwise null. */
  const reserveSearch = async (day: string, accountId: string, timeoutMs: number): Promise<Search | null> => {
    const zone = definition.shared?.timeZone;
    const blocked = { skip: `the source blocks us until midnight (${zone})`, code: DAY_CODES.blocked };
    if (blockedDay === day) return blocked;
    const search = { source: name, day, limit: deps.dailySearches, accountId };
    const permit = await within(budget.take(search), timeoutMs).catch(() => null);
    if (permit === null) return { skip: "the count of the day's searches cannot be read" };
    if (permit === 'blocked') return blocked;
    if (permit === 'exhausted')
      return {
        skip: `the account's searches of this source for the day are used up until midnight (${zone})`,
        code: DAY_CODES.exhausted,
      };
    return null;
  };

  /** The milliseconds until this call may start; null when they are too many. */
  const reserveStart = async (maxWaitMs: number): Promise<number | null> => {
    if (gapMs === undefined || ownPace === null) return 0;
    const reserved = deps.reserveCall(name, { gapMs, maxWaitMs });
    return within(reserved, Math.min(FLEET_ANSWER_MS, maxWaitMs)).catch(() => ownPace(maxWaitMs));
  };

  /** Waits for the turn of a call; returns the reason when it has none, otherwise null. */
  const awaitTurn = async ({ subject, timeoutMs, signal }: SearchInput, day: string | null): Promise<Search | null> => {
    const start = performance.now();
    const maxWaitMs = timeoutMs * MAX_WAIT_SHARE;
    const refused = day === null ? null : await reserveSearch(day, subject.accountId, maxWaitMs);
    if (refused) return refused;

    const delayMs = await reserveStart(maxWaitMs - (performance.now() - start));
    if (delayMs === null) return { skip: 'too many calls at once for the limit of this source' };
    const cancelled = delayMs > 0 && (await wait(delayMs, false, signal ? { signal } : {}).catch(() => true));
    return cancelled ? { skip: 'the check could not wait longer' } : null;
  };

  return async (search: SearchInput): Promise<Search> => {
    const { request, subject, timeoutMs, signal } = search;
    if (signal?.aborted) return { skip: 'the check could not wait longer' };
    const refusal = circuit.refusal();
    if (refusal !== null) return { skip: refusal };

    const day = dayOf();
    const skipped = await awaitTurn(search, day);
    if (skipped) {
      // The call may have been the one that tries the source after a pause.
      circuit.aborted();
      return skipped;
    }

    const call = await deps.call(request, timeoutMs, signal);
    recordResult(call, subject, day);
    return { call };
  };
};
