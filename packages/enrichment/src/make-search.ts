import { setTimeout as wait } from 'node:timers/promises';
import type { EnrichmentSubject, Exchange, SearchBudget } from '@vat/domain';
import type { CallInput, SourceCall } from './call-source.js';
import { createCircuit, FAILURE_PAUSE_MS } from './create-circuit.js';
import { readAnswer } from './read-answer.js';
import type { SourceDefinition, SourceQuestion } from './source-definition.js';

/**
 * Spaces the calls of one process: each taken turn starts at least `gapMs` after the one before. Returns the
 * milliseconds to wait, or null (and takes no turn) when that would be longer than `longestWaitMs`.
 */
export const createPace = ({ gapMs }: { gapMs: number }) => {
  let free = 0;
  return (longestWaitMs: number): number | null => {
    // The monotonic clock: a stepped wall clock must neither bunch the calls nor hold them up.
    const at = performance.now();
    const turn = Math.max(at, free);
    if (turn - at > longestWaitMs) return null;
    free = turn + gapMs;
    return turn - at;
  };
};

/** The share of the time-out that may go on waiting for a turn; the rest is kept for the call, lest it fail for that. */
const LONGEST_WAIT_SHARE = 0.75;

/** A source's Retry-After is kept to, within these limits. */
const SHORTEST_BLOCK_MS = 1_000;
const LONGEST_BLOCK_MS = 3_600_000;

/** Codes of entries that are skipped because the day's searches are used up, or the source refuses us until midnight. */
const DAY_CODES = { exhausted: 'DAILY_SEARCHES_USED', blocked: 'BLOCKED_UNTIL_MIDNIGHT' } as const;

/** A call that was made, or why none was. */
export type Search = { call: SourceCall } | { skip: string; code?: string };

export type SearchDeps = {
  call: (input: CallInput) => Promise<SourceCall>;
  baseUrl: string;
  now: () => Date;
  today: (timeZone: string) => string;
  budget: SearchBudget;
  /** Searches of a day, for a source that has only so many. */
  dailySearches: number;
};

/** One question: about whom, and how long it may take with waiting for its turn. */
type SearchInput = {
  question: SourceQuestion;
  /** Any of those that the question is about. */
  subject: EnrichmentSubject;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
};

const retryAfterMs = (exchange: Exchange, now: Date): number | null => {
  const value = exchange.response?.headers['retry-after'];
  if (value === undefined) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
};

const blockMs = (asked: number | null): number =>
  asked === null ? FAILURE_PAUSE_MS : Math.min(Math.max(asked, SHORTEST_BLOCK_MS), LONGEST_BLOCK_MS);

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

/** Makes the calls of one source: within its day's searches, its pace and its circuit, and notes how each call went. */
export const makeSearch = (deps: SearchDeps, definition: SourceDefinition) => {
  const { now, budget } = deps;
  const circuit = createCircuit({ now, failurePauseMs: definition.failurePauseMs });
  const takeTurn = definition.gapMs === undefined ? null : createPace({ gapMs: definition.gapMs });
  /** The day that the source refuses us for, so that nothing goes out even when the fleet's count cannot be written. */
  let blockedDay: string | null = null;

  const dayOf = () => (definition.shared ? deps.today(definition.shared.timeZone) : null);

  const note = (call: SourceCall, subject: EnrichmentSubject, day: string | null): void => {
    // Our own caller gave up; that says nothing about the source.
    if (call.end === 'aborted') return;
    const { outcome } = readAnswer(definition, call, subject);
    if (outcome === 'blocked' && day !== null) {
      blockedDay = day;
      circuit.answered();
      budget.block(definition.name, day).catch(() => undefined);
      return;
    }
    if (outcome === 'blocked') circuit.blocked(blockMs(retryAfterMs(call.exchange, now())));
    else if (outcome === 'unavailable' || outcome === 'timeout') circuit.failed();
    else circuit.answered();
  };

  /** Why the day allows no search; null when one was taken. */
  const takeOfDay = async (day: string, timeoutMs: number): Promise<Search | null> => {
    const zone = definition.shared?.timeZone;
    const blocked = { skip: `the source blocks us until midnight (${zone})`, code: DAY_CODES.blocked };
    if (blockedDay === day) return blocked;
    const permit = await within(budget.take(definition.name, day, deps.dailySearches), timeoutMs).catch(() => null);
    if (permit === null) return { skip: "the count of the day's searches cannot be read" };
    if (permit === 'blocked') return blocked;
    if (permit === 'exhausted')
      return {
        skip: `the day's searches of this source are used up until midnight (${zone})`,
        code: DAY_CODES.exhausted,
      };
    return null;
  };

  return async ({ question, subject, timeoutMs, signal }: SearchInput): Promise<Search> => {
    const start = performance.now();
    if (signal?.aborted) return { skip: 'the check could not wait longer' };
    const refusal = circuit.refusal();
    if (refusal !== null) return { skip: refusal };

    const day = dayOf();
    const refused = day === null ? null : await takeOfDay(day, timeoutMs * LONGEST_WAIT_SHARE);
    if (refused) return refused;

    const turn = takeTurn ? takeTurn(timeoutMs * LONGEST_WAIT_SHARE) : 0;
    if (turn === null) return { skip: 'too many calls at once for the limit of this source' };
    if (turn > 0) {
      const cancelled = await wait(turn, false, signal ? { signal } : {}).catch(() => true);
      if (cancelled) return { skip: 'the check could not wait longer' };
    }

    const call = await deps.call({
      source: definition.name,
      url: `${deps.baseUrl}${question.path}`,
      ...(question.json === undefined ? {} : { json: question.json }),
      accept: definition.accept,
      timeoutMs: timeoutMs - (performance.now() - start),
      signal,
    });
    note(call, subject, day);
    return { call };
  };
};
