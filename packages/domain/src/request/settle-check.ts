import {
  type Answer,
  type EnrichmentSource,
  type EnrichmentSubject,
  type Exchange,
  enrichCheck,
  type SplitVatNumber,
} from '../check/upstream.js';
import type { LookupDecision } from './decide-lookup.js';
import { splitVatNumber } from './lookup.js';
import type { BatchStep, FindRequest } from './ports.js';
import type { RequestRef, recordCheck } from './record-check.js';
import { type CheckRequest, ENRICHMENT_DEADLINE_MS, type RequestState } from './request.js';
import { sandboxEntries } from './sandbox-facts.js';

/** The subject of enrichment; null for test requests and malformed numbers, which no national source is called for. */
const enrichmentSubject = (request: CheckRequest, answer: Answer): EnrichmentSubject | null => {
  if (request.test || answer.verdict === 'malformed') return null;
  const requester: SplitVatNumber | null = request.requester === null ? null : splitVatNumber(request.requester);
  return {
    memberState: request.memberState,
    national: request.national,
    valid: answer.verdict === 'valid',
    name: answer.name,
    address: answer.address,
    requester,
    trader: request.trader,
    registerId: null,
    accountId: request.accountId,
    callerWaits: request.origin === 'direct' && request.state === 'waiting',
  };
};

type SettleCheckDeps = {
  find: FindRequest;
  sources: readonly EnrichmentSource[];
  recordCheck: ReturnType<typeof recordCheck>;
  /** A signal that aborts after `ms` milliseconds. */
  timeout: (ms: number) => AbortSignal;
};

/** Enriches an answered request and records its check. Does nothing when the request has no answer or has ended. */
export const settleCheck =
  ({ find, sources, recordCheck, timeout }: SettleCheckDeps) =>
  async (ref: RequestRef): Promise<void> => {
    const request = (await find(ref.requestId))?.request;
    if (!request?.answer || (request.state !== 'waiting' && request.state !== 'pending')) return;

    const { answer } = request;
    const subject = enrichmentSubject(request, answer);
    // One deadline for all sources: it bounds the whole check.
    const findings = subject === null ? [] : await enrichCheck(sources, subject, timeout(ENRICHMENT_DEADLINE_MS));
    const found = findings.map((finding) => finding.entry);
    const entries = [...request.entries, ...found, ...sandboxEntries(request, answer)];
    const exchanges = findings.flatMap((finding) => finding.exchange ?? []);
    await recordCheck({ ref, request: { ...request, entries }, answer, exchanges });
  };

/** A lookup to be stored on its request. */
export type LookupToStore = {
  requestId: string;
  /** `attempts` as it was read: a second run of the same job does not overwrite what the first one stored. */
  expectedAttempts: number;
  decision: LookupDecision;
  exchange: Exchange | null;
  /** Whether the request leaves Redis until it is due: it has no job until its line is dispatched again. */
  suspend: boolean;
  /** When the next step is due: the next lookup, or now when the answer is to be recorded. */
  dueAt: Date;
};

/** Port: stores the exchange and, if the request is where it was read, the decision; `null` when the request moved on. */
export type StoreLookup = (lookup: LookupToStore) => Promise<{ state: RequestState; dueAt: Date } | null>;

type PersistAnswerDeps = {
  sources: readonly EnrichmentSource[];
  storeLookup: StoreLookup;
  recordCheck: ReturnType<typeof recordCheck>;
  /** Never rejects: a settlement that is not enqueued is found by the sweep, which does not repeat the lookup. */
  enqueueSettle: (ref: RequestRef, request: CheckRequest) => Promise<void>;
  /** Called for every request of a batch that no longer waits for a slot. */
  advanced: (step: BatchStep) => void;
};

/** An answer of the upstream. `request`: as it was read before the lookup. */
export type AnswerToPersist = { ref: RequestRef; request: CheckRequest; answer: Answer; lookup: LookupToStore };

/**
 * Stores an answer. Where a national source applies, the answer is stored on the request and its enrichment gets a job.
 * Otherwise answer, check, unit and event are recorded in one statement: a job in between would cost as much as the lookup.
 * False when the request had moved on.
 */
export const persistAnswer =
  ({ sources, storeLookup, recordCheck, enqueueSettle, advanced }: PersistAnswerDeps) =>
  async ({ ref, request, answer, lookup }: AnswerToPersist): Promise<boolean> => {
    const subject = enrichmentSubject(request, answer);
    if (subject !== null && sources.some((source) => source.appliesTo(subject))) {
      if ((await storeLookup(lookup)) === null) return false;
      await enqueueSettle(ref, request);
      if (request.origin === 'batch') advanced({ memberState: request.memberState, batchId: null });
      return true;
    }
    const { decision, exchange, expectedAttempts } = lookup;
    const settled = await recordCheck({
      ref,
      request: { ...request, entries: [...decision.entries, ...sandboxEntries(request, answer)] },
      answer,
      exchanges: exchange === null ? [] : [exchange],
      lookup: { expectedAttempts, attempts: decision.attempts, answer },
    });
    return settled !== null;
  };
