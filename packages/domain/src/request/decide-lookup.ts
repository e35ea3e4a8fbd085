import type { CheckOutcome } from '../check/entry.js';
import { recordLookup } from '../check/entry.js';
import type { Answer, LookupOutcome, LookupVerdict } from '../check/upstream.js';
import { giveUpAtFirstLookup } from './give-up.js';
import { describeDetails, isNumberAlone, lookupOf, lookupSourceOf } from './lookup.js';
import { planRetry } from './plan-retry.js';
import type { CheckRequest, UpstreamPolicy } from './request.js';
import { malformedAnswer } from './request-check.js';

/** The effect of one lookup on its request. Everything but `next` is stored unchanged. */
export type LookupDecision = Pick<
  CheckRequest,
  | ('entries' | 'attempts' | 'windowRetries' | 'backgroundRetries' | 'lastError' | 'unconfirmed')
  | ('unconfirmedAt' | 'numberAlone')
> & {
  /** When the request is given up, set by its first lookup; null leaves it as it is. */
  giveUpAt: Date | null;
  next:
    | { kind: 'settle'; answer: Answer }
    | { kind: 'retry'; at: Date }
    | { kind: 'refuse'; reason: 'INVALID_REQUESTER' };
};

type Ended = { outcome: LookupOutcome; startedAt: Date; endedAt: Date; backpressure: boolean };

const answerOf = (outcome: LookupVerdict | 'malformed', endedAt: Date): Answer =>
  outcome === 'malformed'
    ? { ...malformedAnswer(endedAt), numberAlone: true }
    : {
        verdict: outcome.valid ? 'valid' : 'invalid',
        name: outcome.name,
        address: outcome.address,
        consultationNumber: outcome.consultationNumber,
        traderMatch: outcome.traderMatch,
        answeredAt: endedAt.toISOString(),
      };

/** The answer that waits for an agreeing one. A `malformed` counts only where the lookup is known to have carried the number alone. */
const earlierAnswer = ({ unconfirmed }: CheckRequest): Answer | null =>
  unconfirmed?.verdict === 'malformed' && !unconfirmed.numberAlone ? null : unconfirmed;

/** Why an answer lacks the requested consultation number and trader match; null when the lookup carried them. */
const omittedDetails = (request: CheckRequest): string | null => {
  const wanted = lookupOf({ ...request, numberAlone: false });
  if (!request.numberAlone || isNumberAlone(wanted)) return null;
  return `Looked up without ${describeDetails(wanted)}: VIES refused the request with them.`;
};

/**
 * Decides what follows from one lookup: what is believed, what is looked up again, what is refused.
 *
 * - `valid` is believed at once, unless an earlier answer differs.
 * - `invalid` is believed when the next answer agrees.
 * - INVALID_INPUT may concern any field. It counts as an answer about the number (`malformed`) only when the lookup
 *   carried the number alone, and is believed when the next answer agrees. After a lookup that carried more, the number
 *   is looked up alone from then on.
 * - Two answers that disagree send the request to the background until two in a row agree.
 * - INVALID_REQUESTER_INFO refuses the requester that was sent.
 * - Everything else is no answer, and never a verdict.
 *
 * The upstream's Retry-After delays the next step. See docs/decisions/0003-windows-and-confirmation.md and
 * docs/decisions/0004-what-is-believed.md.
 */
export const decideLookup = (request: CheckRequest, ended: Ended, policy: UpstreamPolicy): LookupDecision => {
  const { outcome, endedAt } = ended;
  const notBefore = new Date(endedAt.getTime() + (outcome.retryAfter?.ms ?? 0));
  const source = lookupSourceOf(request);
  const record = (result: CheckOutcome, code: string | null, detail: string | null) =>
    recordLookup(request.entries, {
      source,
      outcome: result,
      code,
      startedAt: ended.startedAt,
      endedAt,
      backpressure: ended.backpressure,
      detail,
    });
  const giveUpAt = giveUpAtFirstLookup(request, ended.startedAt, policy);
  const base = {
    giveUpAt,
    attempts: request.attempts + 1,
    windowRetries: request.windowRetries,
    backgroundRetries: request.backgroundRetries,
    lastError: request.lastError,
    unconfirmed: request.unconfirmed,
    unconfirmedAt: request.unconfirmedAt,
    numberAlone: request.numberAlone,
  };

  const believe = (answer: Answer, code: string | null): LookupDecision => {
    const earlier = earlierAnswer(request);
    const agrees = earlier === null ? answer.verdict === 'valid' : earlier.verdict === answer.verdict;
    const entries = record(answer.verdict, code, omittedDetails(request));
    if (agrees) return { ...base, entries, next: { kind: 'settle', answer } };
    // The window of a dispute runs from its first answer: the caller is not held for a second one.
    const unconfirmed = { ...base, unconfirmed: answer, unconfirmedAt: request.unconfirmedAt ?? endedAt };
    if (earlier === null) return { ...unconfirmed, windowRetries: 0, entries, next: { kind: 'retry', at: notBefore } };
    const detail = `Disagrees with the answer before it (${earlier.verdict}); looked up again later.`;
    const retry = planRetry(
      { ...request, ...unconfirmed, giveUpAt: giveUpAt ?? request.giveUpAt },
      policy,
      endedAt,
      'background',
      notBefore,
    );
    return {
      ...unconfirmed,
      windowRetries: retry.windowRetries,
      backgroundRetries: retry.backgroundRetries,
      lastError: 'ANSWERS_DISAGREE',
      entries: record(answer.verdict, code, detail),
      next: { kind: 'retry', at: retry.at },
    };
  };

  if (outcome.kind === 'verdict') return believe(answerOf(outcome, endedAt), null);

  if (outcome.kind === 'rejected') {
    const code = outcome.upstreamCode ?? outcome.code;
    const lookup = lookupOf(request);
    if (outcome.code === 'INVALID_REQUESTER_INFO' && lookup.requester !== null) {
      const entries = record('rejected', code, 'The upstream does not accept the requester.');
      return { ...base, lastError: code, entries, next: { kind: 'refuse', reason: 'INVALID_REQUESTER' } };
    }
    if (!isNumberAlone(lookup)) {
      const entries = record('rejected', code, `Looked up again without ${describeDetails(lookup)}.`);
      return { ...base, numberAlone: true, lastError: code, entries, next: { kind: 'retry', at: notBefore } };
    }
    if (outcome.code === 'INVALID_INPUT') return believe(answerOf('malformed', endedAt), code);
  }

  // A refusal of a requester that was not sent is no statement about the number.
  const noAnswer =
    outcome.kind === 'rejected'
      ? {
          outcome: 'unavailable' as const,
          code: outcome.upstreamCode ?? outcome.code,
          detail: 'No requester was sent.',
        }
      : outcome;
  const pace = noAnswer.outcome === 'blocked' ? 'slow' : 'quick';
  const retry = planRetry({ ...request, giveUpAt: giveUpAt ?? request.giveUpAt }, policy, endedAt, pace, notBefore);
  return {
    ...base,
    windowRetries: retry.windowRetries,
    backgroundRetries: retry.backgroundRetries,
    lastError: noAnswer.code ?? noAnswer.detail ?? noAnswer.outcome.toUpperCase(),
    entries: record(noAnswer.outcome, noAnswer.code, noAnswer.detail),
    next: { kind: 'retry', at: retry.at },
  };
};
