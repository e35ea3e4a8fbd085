import type { Ask, AskOutcome } from '@vat/domain';
import { classifyAnswer } from './classify-answer.js';
import { describeFailure } from './describe-failure.js';
import { noAnswer } from './no-answer.js';
import type { Posted } from './post.js';
import { readRetryAfter } from './read-retry-after.js';

const classify = (ask: Ask, posted: Posted): AskOutcome => {
  if (posted.end === 'complete') return classifyAnswer(ask, posted.response);
  if (posted.end === 'failed') return describeFailure(posted.failure);
  if (posted.end === 'too_long') return noAnswer('unavailable', posted.error);
  return noAnswer('timeout', posted.end === 'aborted' ? 'aborted' : posted.error);
};

/**
 * What a lookup came to: the outcome of however its request ended, and the Retry-After of whatever answered it, also of
 * an answer that was cut short. Pure; `receivedAt` is compared with a Retry-After that is a date.
 */
export const readPosted = (ask: Ask, posted: Posted, receivedAt: Date): AskOutcome => {
  const outcome = classify(ask, posted);
  const retryAfter = posted.response === null ? null : readRetryAfter(outcome, posted.response, receivedAt);
  return retryAfter === null ? outcome : { ...outcome, retryAfter };
};
