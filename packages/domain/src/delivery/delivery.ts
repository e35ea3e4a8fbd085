import type { EventType } from './event-bodies.js';

export const DELIVERY_STATES = ['pending', 'successful', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The error of deliveries that ended because their endpoint was removed. */
export const WEBHOOK_REMOVED = 'WEBHOOK_REMOVED';

/** With this many pending deliveries that an account's own test and resend calls caused, it can cause no more. */
export const MAX_ON_DEMAND_DELIVERIES = 1_000;

/** Deliveries that one bulk resend may match. They count for {@link MAX_ON_DEMAND_DELIVERIES} once they are pending. */
export const MAX_RESENT_DELIVERIES = 10_000;

/** The number of matching deliveries up to which they are counted when there are too many. */
export const MAX_COUNTED_DELIVERIES = 100_000;

/** Retry-After in seconds for a caller over these limits: the delay before the first retry of a failed delivery. */
export const ON_DEMAND_RETRY_AFTER_S = 30;

/** Bytes of a receiver's answer that the delivery log stores. */
export const MAX_STORED_ANSWER_BYTES = 2_048;

/**
 * A delivery whose next attempt is to be made. Ids are UUIDs; `attempt` counts from 1. `traceparent`: the span that the attempt
 * continues; absent while traces are off, and when a call or the sweep enqueues it.
 */
export type DueDelivery = {
  id: string;
  accountId: string;
  attempt: number;
  dueAt: Date;
  traceparent?: string | undefined;
};

/** The result of a test event or a resend. `too_many`: `pending` deliveries reach the account's limit, and nothing was written. */
export type OnDemandResult =
  | { kind: 'made' }
  | { kind: 'not_found' }
  | { kind: 'no_webhook' }
  | { kind: 'too_many'; pending: number };

/** What a list of deliveries is filtered by. `from` is inclusive, `to` exclusive; both are about the creation of a delivery. */
export type DeliveryFilter = {
  status?: DeliveryState | undefined;
  event?: EventType | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

export type DueCursor = { dueAt: Date; id: string };

/** A page of overdue deliveries; `next` is null for the last one. `attempt`: the number of the next one. */
export type OverdueDeliveries = {
  toSend: Pick<DueDelivery, 'id' | 'attempt'>[];
  /** Of disabled accounts. */
  toHold: string[];
  /** Of endpoints that were removed or replaced. */
  toEnd: string[];
  next: DueCursor | null;
};

/** An endpoint as the API shows it: only the prefix of the secret. */
export type WebhookConfiguration = { url: string; secretPrefix: string; configuredAt: Date };

/** An attempt in the delivery log. `timings`: milliseconds a phase, null where it did not take place. */
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

export type Delivery = {
  id: string;
  eventId: string;
  eventType: EventType;
  state: DeliveryState;
  attempts: number;
  createdAt: Date;
  nextAttemptAt: Date | null;
  /** The last attempt, or the removal of the endpoint, which counts as no attempt. */
  last: { at: Date; statusCode: number | null; durationMs: number; error: string | null } | null;
};

/** A delivery with its attempts; `body` is the text that was signed and sent. */
export type DeliveryDetail = Delivery & { body: string; log: LoggedAttempt[] };

/** The state of a delivery after an attempt; `nextAttemptAt` is set exactly while it is pending. */
export type DeliveryPlan = { state: DeliveryState; nextAttemptAt: Date | null };

/**
 * The state after an attempt. `number` counts from 1. Every failure is retried after the delay of its number, counted from
 * the end of the failed attempt; when the delays are used up the delivery has failed.
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
