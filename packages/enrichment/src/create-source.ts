import type { EnrichmentFinding, EnrichmentSource, EnrichmentSubject, Exchange } from '@vat/domain';
import { exchangeOf } from '@vat/outgoing';
import { coalesceSubjects } from './coalesce-subjects.js';
import { createDailyList } from './create-daily-list.js';
import { makeSearch, type Search, type SearchDeps } from './make-search.js';
import { type Answer, detailLine, readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';

/** Milliseconds that a subject waits for others of its account, to share a search: less while a caller waits. */
const COALESCE_MS = { callerWaits: 100, nobodyWaits: 1_000 } as const;

/** The shares of the time-out that waiting for other subjects and reading a source's daily list may take. */
const COALESCE_SHARE = 0.25;
const LIST_SHARE = 0.5;

/** The dependencies of one source; `timeoutMs` is the deadline of one `consult`. */
type SourceDeps = SearchDeps & { timeoutMs: number };

const reason = (error: unknown) => (error instanceof Error ? error.name : 'unknown');

const aborted = (signal: AbortSignal | undefined): Promise<Search> =>
  new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve({ skip: 'the check could not wait longer' }), { once: true });
  });

/**
 * Implements the port {@link EnrichmentSource} for one definition, with a circuit and, where the source requires them, a
 * rate limit, shared searches and a daily limit. `consult` never throws: every failure is an outcome.
 */
export const createSource =
  (deps: SourceDeps) =>
  (definition: SourceDefinition): EnrichmentSource => {
    const { now, today, timeoutMs } = deps;
    const { shared, dailyList } = definition;
    const search = makeSearch(deps, definition);
    const readList =
      dailyList &&
      createDailyList({
        definition: dailyList,
        call: () => deps.call(dailyList, timeoutMs * LIST_SHARE),
        now,
      });
    const sharedSearch =
      shared &&
      coalesceSubjects<Search>({
        size: shared.size,
        numberOf: shared.numberOf,
        search: async (subjects, waitedMs) => {
          const [subject] = subjects;
          if (!subject) throw new Error('a search without subjects');
          const request = shared.createRequest(subjects.map(shared.numberOf), today);
          return search({ request, subject, timeoutMs: timeoutMs - waitedMs });
        },
      });

    type Result = { answer: Answer; exchange: Exchange | null };

    const searchFor = async (subject: EnrichmentSubject, signal: AbortSignal | undefined): Promise<Search> => {
      if (signal?.aborted) return { skip: 'the check could not wait longer' };
      const start = performance.now();
      const list = readList && dailyList?.neededFor(subject) ? await readList() : null;
      const request = definition.createRequest(subject, { today, list });
      if ('skip' in request) return request;
      if (!sharedSearch)
        return search({ request, subject, timeoutMs: timeoutMs - (performance.now() - start), signal });
      const waitMs = COALESCE_MS[subject.callerWaits ? 'callerWaits' : 'nobodyWaits'];
      return Promise.race([sharedSearch(subject, Math.min(waitMs, timeoutMs * COALESCE_SHARE)), aborted(signal)]);
    };

    const searchAndRead = async (subject: EnrichmentSubject, signal: AbortSignal | undefined): Promise<Result> => {
      const result = await searchFor(subject, signal);
      if ('call' in result)
        return {
          answer: readAnswer(definition, result.call, subject, today),
          exchange: exchangeOf(definition.name, result.call),
        };
      const { skip: detail, code } = result;
      return { answer: { outcome: 'skipped', ...(code ? { code } : {}), detail }, exchange: null };
    };

    const consult = async (subject: EnrichmentSubject, signal?: AbortSignal): Promise<EnrichmentFinding> => {
      const startedAt = now();
      const start = performance.now();
      const { answer, exchange } = await searchAndRead(subject, signal).catch(
        (error: unknown): Result => ({
          answer: { outcome: 'unavailable', detail: detailLine([['internal failure', reason(error)]]) },
          exchange: null,
        }),
      );
      return {
        entry: {
          source: definition.name,
          ...answer,
          ...(exchange === null ? {} : { attempts: 1 }),
          started_at: startedAt.toISOString(),
          duration_ms: Math.round(performance.now() - start),
        },
        exchange,
      };
    };

    return {
      name: definition.name,
      appliesTo: definition.appliesTo,
      ...(definition.usesRegisterId ? { usesRegisterId: true } : {}),
      consult,
    };
  };
