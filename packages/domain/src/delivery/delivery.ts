/** States of a delivery. */
export const DELIVERY_STATES = ['pending', 'successful', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The error of deliveries that ended because their endpoint was removed. */
export const WEBHOOK_REMOVED = 'WEBHOOK_REMOVED';

/** Deliveries that an account's own test and resend calls may have pending. */
export const MAX_ON_DEMAND_DELIVERIES = 1_000;

/** What a caller who is over that limit should wait, in seconds: the first retry of a delivery that failed is this far off. */
export const ON_DEMAND_RETRY_AFTER_S = 30;

/** Bytes of a receiver's answer that the log keeps. */
export const MAX_STORED_ANSWER_BYTES = 2_048;

/** A delivery whose next attempt is to be made. Ids are UUIDs; `attempt` counts from 1. */
export type DueDelivery = { id: string; accountId: string; attempt: number; dueAt: Date };

/** A due delivery as the sweep finds it. */
export type OverdueDelivery = DueDelivery & { accountDisabled: boolean };

/** What became of a test event or a resend. `too_many`: so many of the account's are pending, and nothing was written. */
export type OnDemandResult =
  | { kind: 'made' }
  | { kind: 'not_found' }
  | { kind: 'no_webhook' }
  | { kind: 'too_many'; pending: number };

/** A position in the list of due deliveries. */
export type DueCursor = { dueAt: Date; id: string };

/** An endpoint as it is shown: the secret by its prefix alone. */
export type WebhookConfiguration = { url: string; secretPrefix: string; configuredAt: Date };

/** How an attempt ended, as the log keeps it. `timings`: milliseconds a phase, null where it did not take place. */
export type LoggedAttempt = {
  number: number;
  at: Date;
  url: string;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  address: string | null;
  timings: Record<'dns_ms' | 'tcp_ms' | 'tls_ms' | 'first_byte_ms', number | null> & { total_ms: number };
  answer: Uint8Array;
  answerTruncated: boolean;
};

/** A delivery as the log lists it. */
export type Delivery = {
  id: string;
  eventId: string;
  eventType: string;
  state: DeliveryState;
  attempts: number;
  createdAt: Date;
  nextAttemptAt: Date | null;
  /** The last attempt, or the removal of the endpoint, which is none. */
  last: { at: Date; statusCode: number | null; durationMs: number; error: string | null } | null;
};

/** A delivery with all that is known of it; `body` is the text that was signed and sent. */
export type DeliveryDetail = Delivery & { body: string; log: LoggedAttempt[] };

/** What an attempt makes of its delivery; `nextAttemptAt` is set exactly while it stays pending. */
export type DeliveryPlan = { state: DeliveryState; nextAttemptAt: Date | null };

/**
 * The state after the attempt of that number (from 1). Every failure is retried alike: the first after the first delay,
 * counted from the end of the failed attempt; when the delays are used up the delivery has failed.
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
