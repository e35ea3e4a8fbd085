import type { CheckOutcome } from '../check/entry.js';
import { recordAsk } from '../check/record-ask.js';
import type { AskOutcome, AskVerdict } from '../check/upstream.js';
import { planRetry } from './plan-retry.js';
import type { UpstreamPolicy } from './policy.js';
import type { Answer, CheckRequest } from './request.js';

/** What one ask does to its request. Everything but `next` is stored as it stands. */
export type AskDecision = Pick<
  CheckRequest,
  | 'entries'
  | 'attempts'
  | 'windowRetries'
  | 'backgroundRetries'
  | 'lastError'
  | 'unconfirmed'
  | 'unconfirmedAt'
  | 'requesterDropped'
> & {
  next:
    | { kind: 'settle'; answer: Answer }
    | { kind: 'ask_again'; at: Date }
    | { kind: 'refuse'; reason: 'INVALID_REQUESTER' };
};

type Ended = { outcome: AskOutcome; startedAt: Date; endedAt: Date; backpressure: boolean };

const NOTHING_SAID = { name: null, address: null, consultationNumber: null, traderMatch: null };

const answerOf = (outcome: AskVerdict | 'malformed', endedAt: Date): Answer =>
  outcome === 'malformed'
    ? { verdict: 'malformed', ...NOTHING_SAID, answeredAt: endedAt.toISOString() }
    : {
        verdict: outcome.valid ? 'valid' : 'invalid',
        name: outcome.name,
        address: outcome.address,
        consultationNumber: outcome.consultationNumber,
        traderMatch: outcome.traderMatch,
        answeredAt: endedAt.toISOString(),
      };

/**
 * The rule of the trade: what is believed, what is asked again, what is refused.
 *
 * - `valid` is believed at once, unless an earlier answer said otherwise.
 * - `invalid`, and INVALID_INPUT where no requester can be to blame, are believed when the next answer agrees.
 * - Two answers that disagree send the request to the background until two in a row agree.
 * - INVALID_INPUT with a requester is asked again without the requester first.
 * - Everything else is no answer. No answer is never a verdict.
 *
 * Source: contract part 2 §4, "Confirmation" and the paragraph after it.
 */
export const decideAsk = (request: CheckRequest, ended: Ended, policy: UpstreamPolicy): AskDecision => {
  const { outcome, endedAt } = ended;
  const source = request.unconfirmed === null ? 'vies' : 'vies_confirmation';
  const record = (result: CheckOutcome, code: string | null, detail: string | null) =>
    recordAsk(request.entries, {
      source,
      outcome: result,
      code,
      startedAt: ended.startedAt,
      endedAt,
      backpressure: ended.backpressure,
      detail,
    });
  const base = {
    attempts: request.attempts + 1,
    windowRetries: request.windowRetries,
    backgroundRetries: request.backgroundRetries,
    lastError: request.lastError,
    unconfirmed: request.unconfirmed,
    unconfirmedAt: request.unconfirmedAt,
    requesterDropped: request.requesterDropped,
  };

  const believe = (answer: Answer, code: string | null): AskDecision => {
    const without = request.requesterDropped ? 'Asked without the requester after INVALID_INPUT.' : null;
    const earlier = request.unconfirmed;
    const twiceRefused = answer.verdict === 'malformed' && request.requesterDropped;
    const agrees = earlier === null ? answer.verdict === 'valid' || twiceRefused : earlier.verdict === answer.verdict;
    if (agrees) return { ...base, entries: record(answer.verdict, code, without), next: { kind: 'settle', answer } };
    const unconfirmed = { ...base, unconfirmed: answer, unconfirmedAt: endedAt };
    if (earlier === null) {
      const entries = record(answer.verdict, code, without);
      return { ...unconfirmed, windowRetries: 0, entries, next: { kind: 'ask_again', at: endedAt } };
    }
    const detail = `Disagrees with the answer before it (${earlier.verdict}); asked again later.`;
    // The dispute keeps the first answer's clock: the caller is not held for a second window.
    const disputed = { ...unconfirmed, unconfirmedAt: request.unconfirmedAt ?? endedAt };
    const retry = planRetry({ ...request, ...disputed }, policy, endedAt, 'background');
    return {
      ...disputed,
      windowRetries: retry.windowRetries,
      backgroundRetries: retry.backgroundRetries,
      lastError: 'ANSWERS_DISAGREE',
      entries: record(answer.verdict, code, detail),
      next: { kind: 'ask_again', at: retry.at },
    };
  };

  if (outcome.kind === 'verdict') return believe(answerOf(outcome, endedAt), null);

  if (outcome.kind === 'rejected' && outcome.code === 'INVALID_INPUT') {
    const requesterAsked = request.requester !== null && !request.requesterDropped;
    if (!requesterAsked) return believe(answerOf('malformed', endedAt), outcome.code);
    const entries = record('rejected', outcome.code, 'Asked again without the requester.');
    return {
      ...base,
      requesterDropped: true,
      lastError: outcome.code,
      entries,
      next: { kind: 'ask_again', at: endedAt },
    };
  }
  if (outcome.kind === 'rejected' && request.requester !== null && !request.requesterDropped) {
    const entries = record('rejected', outcome.code, 'The upstream does not accept the requester.');
    return { ...base, lastError: outcome.code, entries, next: { kind: 'refuse', reason: 'INVALID_REQUESTER' } };
  }

  // A refusal of a requester that was not sent says nothing about the number.
  const silence =
    outcome.kind === 'rejected'
      ? { outcome: 'unavailable' as const, code: outcome.code, detail: 'No requester was sent.' }
      : outcome;
  const retry = planRetry(request, policy, endedAt, silence.outcome === 'blocked' ? 'slow' : 'quick');
  return {
    ...base,
    windowRetries: retry.windowRetries,
    backgroundRetries: retry.backgroundRetries,
    lastError: silence.code ?? silence.detail ?? silence.outcome.toUpperCase(),
    entries: record(silence.outcome, silence.code, silence.detail),
    next: { kind: 'ask_again', at: retry.at },
  };
};
