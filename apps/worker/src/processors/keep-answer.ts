import type { AskToStore, storeAsk } from '@vat/db';
import type { Answer, CheckRequest, EnrichmentSource } from '@vat/domain';
import { type PriorityClass, priorityClassOf, type RequestJob } from '@vat/queues';
import type { BatchStep } from '../batch-progress.js';
import { enrichmentSubject } from './enrichment-subject.js';
import type { recordCheck } from './record-check.js';

export type KeepAnswerDeps = {
  sources: readonly EnrichmentSource[];
  storeAsk: ReturnType<typeof storeAsk>;
  recordCheck: ReturnType<typeof recordCheck>;
  enqueueSettle: (job: RequestJob, priority: PriorityClass) => Promise<void>;
  /** Told of every request of a batch that waits for no slot any more. */
  advanced: (step: BatchStep) => void;
};

/** An answer as it came: the request as it was read before the ask, and what the ask does to it. */
export type AnswerToKeep = { job: RequestJob; request: CheckRequest; answer: Answer; ask: AskToStore };

/**
 * Writes an answer down. Where a national source has something to add, it is stored on the request and its enrichment gets
 * a job; else there is nothing to wait for, and answer, check, unit and event are one statement: a queue in between costs
 * as much as the ask. False when the request had moved on.
 */
export const keepAnswer =
  ({ sources, storeAsk, recordCheck, enqueueSettle, advanced }: KeepAnswerDeps) =>
  async ({ job, request, answer, ask }: AnswerToKeep): Promise<boolean> => {
    const subject = enrichmentSubject(request, answer);
    if (subject !== null && sources.some((source) => source.appliesTo(subject))) {
      if ((await storeAsk(ask)) === null) return false;
      // If this fails the sweep finds the stored answer; asking again would be wrong.
      await enqueueSettle(job, priorityClassOf({ origin: request.origin, pending: request.state === 'pending' }));
      if (request.origin === 'batch') advanced({ memberState: request.memberState, batchId: null });
      return true;
    }
    const { decision, exchange, expectedAttempts } = ask;
    const settled = await recordCheck({
      job,
      request: { ...request, entries: decision.entries },
      answer,
      exchanges: exchange === null ? [] : [exchange],
      ask: { expectedAttempts, attempts: decision.attempts, answer },
    });
    return settled !== null;
  };
