import type { PublicCheck } from '../check/check.js';
import { publicId } from '../ids.js';

export const EVENT_TYPES = [
  'check.completed',
  'check.failed',
  'batch.completed',
  'watch.changed',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** An event as it is stored: `body` is the text that is signed and sent, byte for byte, at every attempt. */
export type NewEvent = { id: string; type: EventType; body: string };

/** Why a request ended without a check. */
export const ABANDON_REASONS = ['UPSTREAM_NO_ANSWER', 'NEVER_ASKED', 'ACCOUNT_DISABLED', 'INVALID_REQUESTER'] as const;
export type AbandonReason = (typeof ABANDON_REASONS)[number];

type About = { id: string; test: boolean };

const testMark = (request: About) => (request.test ? { test: true } : {});

/** The body of check.completed; first key `event`. */
export const checkCompletedBody = (request: About, check: PublicCheck): string =>
  JSON.stringify({
    event: 'check.completed',
    ...testMark(request),
    request_id: publicId('request', request.id),
    check,
  });

/** The body of check.failed; `last_error` only when one was recorded. */
export const checkFailedBody = (request: About, reason: AbandonReason, lastError: string | null): string =>
  JSON.stringify({
    event: 'check.failed',
    ...testMark(request),
    request_id: publicId('request', request.id),
    reason,
    ...(lastError === null ? {} : { last_error: lastError }),
  });

/** The content of batch.completed: done + failed = total. */
type CompletedBatch = { id: string; total: number; done: number; failed: number };

/** The body of batch.completed; written in the transaction that ends the batch, with the batch as its subject. */
export const batchCompletedBody = ({ id, total, done, failed }: CompletedBatch): string =>
  JSON.stringify({ event: 'batch.completed', batch_id: publicId('batch', id), total, done, failed });

/** A difference between two answers: booleans of `validity`, texts or null of `name` and `address`. */
export type Change =
  | { kind: 'validity'; before: boolean; after: boolean }
  | { kind: 'name' | 'address'; before: string | null; after: string | null };

/** The content of watch.changed. Ids are UUIDs. */
export type ObservedChange = Change & { watchId: string; vatNumber: string; label: string | null; checkId: string };

/** The body of watch.changed; written in the transaction that records the change, with the change as its subject. */
export const watchChangedBody = (change: ObservedChange): string =>
  JSON.stringify({
    event: 'watch.changed',
    watch_id: publicId('watch', change.watchId),
    vat_number: change.vatNumber,
    label: change.label,
    kind: change.kind,
    before: change.before,
    after: change.after,
    check_id: publicId('check', change.checkId),
  });

/** The body of webhook.test. It has no `test` mark: that belongs to the check.* events of test requests. */
export const webhookTestBody = (sentAt: Date): string =>
  JSON.stringify({ event: 'webhook.test', sent_at: sentAt.toISOString() });
