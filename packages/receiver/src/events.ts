import { type Check, VerificationError } from './verification-error.js';

/** `test: true` marks what a test key caused; route on it. Absent otherwise. */
type TestMark = { test?: true };

/** A request answered 202 has its check. */
export type CheckCompletedEvent = TestMark & {
  event: 'check.completed';
  request_id: string;
  check: Check;
};

/** A request answered 202 was abandoned; there is no check, and nothing was charged. */
export type CheckFailedEvent = TestMark & {
  event: 'check.failed';
  request_id: string;
  reason: 'UPSTREAM_NO_ANSWER' | 'ACCOUNT_DISABLED' | 'INVALID_REQUESTER';
  /** The last error, when one was recorded. */
  last_error?: string;
};

/** No line of the batch is left to process: done + failed = total. */
export type BatchCompletedEvent = {
  event: 'batch.completed';
  batch_id: string;
  total: number;
  done: number;
  failed: number;
};

/** One change of a watched number; `before` and `after` are booleans for `validity`, else texts or null. */
export type WatchChangedEvent = {
  event: 'watch.changed';
  watch_id: string;
  vat_number: string;
  label: string | null;
  /** The check that saw the change. */
  check_id: string;
} & (
  | { kind: 'validity'; before: boolean; after: boolean }
  | { kind: 'name' | 'address'; before: string | null; after: string | null }
);

/** Somebody asked for a test event. */
export type WebhookTestEvent = {
  event: 'webhook.test';
  /** RFC 3339, UTC. */
  sent_at: string;
};

/**
 * The body of a delivery, told apart by `event`. Events may be added one day: give a `switch` a default branch that does
 * nothing, so that a name you do not know is answered 2xx and not retried. Source: contract part 1 §6, part 2 §8.
 */
export type WebhookEvent =
  | CheckCompletedEvent
  | CheckFailedEvent
  | BatchCompletedEvent
  | WatchChangedEvent
  | WebhookTestEvent;

/**
 * The event of a body whose signature held. Fields are not judged one by one: what is signed is what the service sent.
 * Throws INVALID_BODY when it is no JSON object with an `event`.
 */
export const readEvent = (body: string | Uint8Array): WebhookEvent => {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const value = parse(text);
  if (typeof value !== 'object' || value === null || !('event' in value) || typeof value.event !== 'string')
    throw new VerificationError('INVALID_BODY', 'the body is not a JSON object with an event');
  return value as WebhookEvent;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
