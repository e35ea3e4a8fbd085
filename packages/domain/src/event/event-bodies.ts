import type { PublicCheck } from '../check/check-body.js';
import { publicId } from '../ids.js';
import type { AbandonReason } from '../request/request.js';

/** Names of events. Source: contract part 1 §6. */
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
