import type { DeliveryState } from './delivery.js';

/** What an attempt makes of its delivery; `nextAttemptAt` is set exactly while it stays pending. */
export type DeliveryPlan = { state: DeliveryState; nextAttemptAt: Date | null };

/**
 * The state after the attempt of that number (from 1). Every failure is retried alike: the first after the first delay,
 * counted from the end of the failed attempt; when the delays are used up the delivery has failed.
 * Source: contract part 1 §3, part 2 §8.
 */
export const planDelivery = (
  attempt: { number: number; succeeded: boolean; endedAt: Date },
  retryDelaysMs: readonly number[],
): DeliveryPlan => {
  if (attempt.succeeded) return { state: 'successful', nextAttemptAt: null };
  const delay = retryDelaysMs[attempt.number - 1];
  if (delay === undefined) return { state: 'failed', nextAttemptAt: null };
  return { state: 'pending', nextAttemptAt: new Date(attempt.endedAt.getTime() + delay) };
};
