import type { AttemptResult } from './attempt-result.js';

/**
 * Whether the event counts as delivered: the head of a 2xx arrived within the deadline. A body that stalls or breaks off
 * after it changes nothing; the result's `error` says so. Source: contract part 1 §3.
 */
export const attemptSucceeded = ({ statusCode }: Pick<AttemptResult, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;
