import type { AttemptResult } from './attempt-result.js';

/**
 * Whether the event counts as delivered: a 2xx that arrived within the deadline. A 2xx whose body stalls or breaks off
 * has an `error` and does not count, since the deadline covers the body. Source: contract part 1 §3, part 2 §2.
 */
export const attemptSucceeded = ({ statusCode, error }: Pick<AttemptResult, 'statusCode' | 'error'>): boolean =>
  error === null && statusCode !== null && statusCode >= 200 && statusCode < 300;
