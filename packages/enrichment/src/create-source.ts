import { setTimeout as wait } from 'node:timers/promises';
import type { EnrichmentFinding, EnrichmentSource, EnrichmentSubject, Exchange } from '@vat/domain';
import type { CallInput, SourceCall } from './call-source.js';
import { createCircuit, FAILURE_PAUSE_MS } from './create-circuit.js';
import { createPace } from './create-pace.js';
import { detailLine } from './detail-line.js';
import { type Answer, readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';

/** The share of the time-out that may go on waiting for a turn; the rest is kept for the call, lest it fail for that. */
const LONGEST_WAIT_SHARE = 0.75;

/** However long a source's Retry-After, it is tried again after an hour. */
const LONGEST_BLOCK_MS = 3_600_000;

/** What every source is given: the guarded call, its base URL, the deadline of one look, and the time. */
export type SourceDeps = {
  call: (input: CallInput) => Promise<SourceCall>;
  baseUrl: string;
  timeoutMs: number;
  now: () => Date;
  today: (timeZone: string) => string;
};

const retryAfterMs = (exchange: Exchange, now: Date) => {
  const value = exchange.response?.headers['retry-after'];
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
};

const reason = (error: unknown) => (error instanceof Error ? error.name : 'unknown');

/**
 * The port {@link EnrichmentSource} over one definition, with a circuit and, where the source wants it, a pace of its
 * own. `look` never throws: whatever goes wrong is an outcome.
 */
export const createSource =
  (deps: SourceDeps) =>
  (definition: SourceDefinition): EnrichmentSource => {
    const { now, timeoutMs } = deps;
    const circuit = createCircuit({ now });
    const takeTurn = definition.gapMs === undefined ? null : createPace({ gapMs: definition.gapMs });

    const note = (call: SourceCall, answer: Answer) => {
      // Our own caller gave up; that says nothing about the source.
      if (call.end === 'aborted') return;
      if (answer.outcome === 'blocked') {
        const pause = Math.max(definition.blockedPauseMs ?? FAILURE_PAUSE_MS, retryAfterMs(call.exchange, now()));
        return circuit.blocked(Math.min(pause, LONGEST_BLOCK_MS));
      }
      if (answer.outcome === 'unavailable' || answer.outcome === 'timeout') return circuit.failed();
      return circuit.answered();
    };

    type Result = { answer: Answer; exchange: Exchange | null };
    const skipped = (detail: string): Result => ({ answer: { outcome: 'skipped', detail }, exchange: null });

    const lookOnce = async (subject: EnrichmentSubject, signal: AbortSignal | undefined): Promise<Result> => {
      const question = definition.ask(subject, deps.today);
      if ('skip' in question) return skipped(question.skip);
      if (signal?.aborted) return skipped('the check could not wait longer');
      const refusal = circuit.refusal();
      if (refusal !== null) return skipped(refusal);

      const turn = takeTurn ? takeTurn(timeoutMs * LONGEST_WAIT_SHARE) : 0;
      if (turn === null) return skipped('too many calls at once for the limit of this source');
      if (turn > 0) {
        const cancelled = await wait(turn, false, signal ? { signal } : {}).catch(() => true);
        if (cancelled) return skipped('the check could not wait longer');
      }

      const call = await deps.call({
        source: definition.name,
        url: `${deps.baseUrl}${question.path}`,
        ...(question.json === undefined ? {} : { json: question.json }),
        timeoutMs: timeoutMs - turn,
        signal,
      });
      const answer = readAnswer(definition, call, subject);
      note(call, answer);
      return { answer, exchange: call.exchange };
    };

    const look = async (subject: EnrichmentSubject, signal?: AbortSignal): Promise<EnrichmentFinding> => {
      const startedAt = now();
      const start = performance.now();
      const { answer, exchange } = await lookOnce(subject, signal).catch(
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
        },
        exchange,
      };
    };

    return { name: definition.name, appliesTo: definition.appliesTo, look };
  };
