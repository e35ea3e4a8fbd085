import { setTimeout as pause } from 'node:timers/promises';
import type { LookupToStore, storeLookup } from '@vat/db';
import type { Answer, CheckRequest, EnrichmentSource } from '@vat/domain';
import { type PriorityClass, priorityClassOf, type RequestJob } from '@vat/queues';
import type { BatchStep } from './batch-progress.js';
import { enrichmentSubject, type recordCheck } from './processors/settle-check.js';

/** Work that goes on behind a job that has ended. */
export type Recordings = {
  /** Runs `work` at once, and again while it fails, until it gave up; never throws. */
  start: (work: () => Promise<unknown>) => void;
  /** Resolves when fewer than the most that may be open are. */
  room: () => Promise<void>;
  /** Resolves when all of it has ended. */
  drain: () => Promise<void>;
};

/**
 * Long enough for Postgres to be started again. The sweep may have the request asked again meanwhile: what is written
 * second finds that the request has moved on.
 */
const TRIES = 4;
const PAUSE_MS = 1_000;
/** More answers than this are not asked for before some of them are written. */
const MAX_OPEN = 200;

/**
 * Storing an answer needs no slot, so it does not hold the job: a member state's next ask begins while the last answer
 * is written. The row stays due until then, so an answer that is lost with its process is asked for again by the sweep.
 */
export const createRecordings = (onGivenUp: (error: unknown) => void): Recordings => {
  const open = new Set<Promise<void>>();
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (tries === TRIES) return onGivenUp(error);
        await pause(PAUSE_MS);
      }
    }
  };
  return {
    start: (work) => {
      const running = run(work).finally(() => open.delete(running));
      open.add(running);
    },
    room: async () => {
      while (open.size >= MAX_OPEN) await Promise.race(open);
    },
    drain: async () => {
      while (open.size > 0) await Promise.all(open);
    },
  };
};

type PersistAnswerDeps = {
  sources: readonly EnrichmentSource[];
  storeLookup: ReturnType<typeof storeLookup>;
  recordCheck: ReturnType<typeof recordCheck>;
  enqueueSettle: (job: RequestJob, priority: PriorityClass) => Promise<void>;
  /** Told of every request of a batch that waits for no slot any more. */
  advanced: (step: BatchStep) => void;
};

/** An answer as it came: the request as it was read before the ask, and what the ask does to it. */
type AnswerToPersist = { job: RequestJob; request: CheckRequest; answer: Answer; ask: LookupToStore };

/**
 * Writes an answer down. Where a national source has something to add, it is stored on the request and its enrichment gets
 * a job; else there is nothing to wait for, and answer, check, unit and event are one statement: a queue in between costs
 * as much as the ask. False when the request had moved on.
 */
export const persistAnswer =
  ({ sources, storeLookup, recordCheck, enqueueSettle, advanced }: PersistAnswerDeps) =>
  async ({ job, request, answer, ask }: AnswerToPersist): Promise<boolean> => {
    const subject = enrichmentSubject(request, answer);
    if (subject !== null && sources.some((source) => source.appliesTo(subject))) {
      if ((await storeLookup(ask)) === null) return false;
      // If this fails the sweep finds the stored answer; lookingUp again would be wrong.
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
