import { type Check, VerificationError } from './verification-error.js';

/** `test: true` marks events that a test key caused; absent otherwise. Use it to route them separately. */
type TestMark = { test?: true };

/** A request that was answered with 202 now has its check. */
export type CheckCompletedEvent = TestMark & {
  event: 'check.completed';
  request_id: string;
  check: Check;
};

/** A request that was answered with 202 was abandoned; there is no check, and nothing was charged. */
export type CheckFailedEvent = TestMark & {
  event: 'check.failed';
  request_id: string;
  reason: 'UPSTREAM_NO_ANSWER' | 'ACCOUNT_DISABLED' | 'INVALID_REQUESTER';
  /** The last error, if one was recorded. */
  last_error?: string;
};

/** All lines of the batch are processed: done + failed = total. */
export type BatchCompletedEvent = {
  event: 'batch.completed';
  batch_id: string;
  total: number;
  done: number;
  failed: number;
};

/** One change of a watched number; `before` and `after` are booleans for `validity`, otherwise texts or null. */
export type WatchChangedEvent = {
  event: 'watch.changed';
  watch_id: string;
  vat_number: string;
  label: string | null;
  /** The check that found the change. */
  check_id: string;
} & (
  | { kind: 'validity'; before: boolean; after: boolean }
  | { kind: 'name' | 'address'; before: string | null; after: string | null }
);

/** A user requested a test event. */
export type WebhookTestEvent = {
  event: 'webhook.test';
  /** RFC 3339, UTC. */
  sent_at: string;
};

/**
 * The body of a delivery; `event` is the discriminator. Events may be added later: give a `switch` a default branch that
 * does nothing, so that an unknown event is answered with 2xx and not retried.
 */
export type WebhookEvent =
  | CheckCompletedEvent
  | CheckFailedEvent
  | BatchCompletedEvent
  | WatchChangedEvent
  | WebhookTestEvent;

/**
 * Reads the event from a body with a verified signature. The fields are not validated one by one, because the signature
 * proves that the service sent them. Throws INVALID_BODY when the body is not a JSON object with an `event`.
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
