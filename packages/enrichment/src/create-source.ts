import type { EnrichmentFinding, EnrichmentSource, EnrichmentSubject, Exchange } from '@vat/domain';
import { createDailyList } from './create-daily-list.js';
import { gatherSubjects } from './gather-subjects.js';
import { makeSearch, type Search, type SearchDeps } from './make-search.js';
import { type Answer, detailLine, readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';

/** How long a subject waits for others of its account to share a search with, in milliseconds: less while a caller waits. */
const COALESCE_MS = { callerWaits: 100, nobodyWaits: 1_000 } as const;

/** The shares of the time-out that may go on waiting for others, and on reading a source's daily list. */
const GATHER_SHARE = 0.25;
const LIST_SHARE = 0.5;

/** What every source is given: the guarded call, its base URL, the deadline of one look, and the time. */
type SourceDeps = SearchDeps & { timeoutMs: number };

const reason = (error: unknown) => (error instanceof Error ? error.name : 'unknown');

const aborted = (signal: AbortSignal | undefined): Promise<Search> =>
  new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve({ skip: 'the check could not wait longer' }), { once: true });
  });

/**
 * The port {@link EnrichmentSource} over one definition, with a circuit and, where the source wants it, a pace, shared
 * searches and a day's number of them. `look` never throws: whatever goes wrong is an outcome.
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
        call: (path) =>
          deps.call({ source: definition.name, url: `${deps.baseUrl}${path}`, timeoutMs: timeoutMs * LIST_SHARE }),
        now,
      });
    const searchTogether =
      shared &&
      gatherSubjects<Search>({
        size: shared.size,
        numberOf: shared.numberOf,
        search: async (subjects, waitedMs) => {
          const [subject] = subjects;
          if (!subject) throw new Error('a search without subjects');
          const question = shared.ask(subjects.map(shared.numberOf), today);
          return search({ question, subject, timeoutMs: timeoutMs - waitedMs });
        },
      });

    type Result = { answer: Answer; exchange: Exchange | null };

    const searchFor = async (subject: EnrichmentSubject, signal: AbortSignal | undefined): Promise<Search> => {
      if (signal?.aborted) return { skip: 'the check could not wait longer' };
      const start = performance.now();
      const list = readList && dailyList?.neededFor(subject) ? await readList() : null;
      const question = definition.ask(subject, { today, list });
      if ('skip' in question) return question;
      if (!searchTogether)
        return search({ question, subject, timeoutMs: timeoutMs - (performance.now() - start), signal });
      const waitMs = COALESCE_MS[subject.callerWaits ? 'callerWaits' : 'nobodyWaits'];
      return Promise.race([searchTogether(subject, Math.min(waitMs, timeoutMs * GATHER_SHARE)), aborted(signal)]);
    };

    const pollOnce = async (subject: EnrichmentSubject, signal: AbortSignal | undefined): Promise<Result> => {
      const made = await searchFor(subject, signal);
      if ('call' in made) return { answer: readAnswer(definition, made.call, subject), exchange: made.call.exchange };
      const { skip: detail, code } = made;
      return { answer: { outcome: 'skipped', ...(code ? { code } : {}), detail }, exchange: null };
    };

    const look = async (subject: EnrichmentSubject, signal?: AbortSignal): Promise<EnrichmentFinding> => {
      const startedAt = now();
      const start = performance.now();
      const { answer, exchange } = await pollOnce(subject, signal).catch(
        (error: unknown): Result => ({
          answer: { outcome: 'unavailable', detail: detailLine([['internal failure', reason(error)]]) },
          exchange: null,
        }),
      );
      return {
        entry: {
          source: definition.name,
          outcome: answer.outcome,
          ...(answer.code === undefined ? {} : { code: answer.code }),
          ...(exchange === null ? {} : { attempts: 1 }),
          started_at: startedAt.toISOString(),
          duration_ms: Math.round(performance.now() - start),
          ...(answer.detail === undefined ? {} : { detail: answer.detail }),
          ...(answer.facts === undefined ? {} : { facts: answer.facts }),
          ...(answer.contradicts ? { contradicts: true } : {}),
        },
        exchange,
      };
    };

    return {
      name: definition.name,
      appliesTo: definition.appliesTo,
      ...(definition.usesRegisterId ? { usesRegisterId: true } : {}),
      look,
    };
  };
