import type { WebhookEvent } from './events.js';
import { VerificationError } from './verification-error.js';

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
