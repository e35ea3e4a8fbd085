import { VerificationError } from './verification-error.js';

/** `A`: agrees, `B`: differs, `C`: not requested, `D`: not provided by the member state. */
export type MatchLetter = 'A' | 'B' | 'C' | 'D';

/** What a register states about a trader, unchanged. Fields that it does not state are absent. */
export type SourceFacts = {
  name?: string;
  address?: string;
  legal_form?: string;
  status?: string;
  registered_since?: string;
  registered_until?: string;
  register_id?: string;
  vat_numbers?: string[];
  receipt?: string;
  matches?: Record<'name' | 'street' | 'postal_code' | 'city', MatchLetter>;
};

/** What one source contributed to a check. Times are RFC 3339 in UTC, durations are whole milliseconds. */
export type CheckEntry = {
  /** `syntax`, `vies`, `vies_confirmation`, or a national register such as `de_evatr`. */
  source: string;
  outcome:
    | 'valid'
    | 'invalid'
    | 'malformed'
    | 'saturated'
    | 'unavailable'
    | 'timeout'
    | 'rejected'
    | 'blocked'
    | 'found'
    | 'not_found'
    | 'skipped';
  code?: string;
  attempts?: number;
  backpressure?: boolean;
  started_at: string;
  duration_ms: number;
  detail?: string;
  facts?: SourceFacts;
  /** The source contradicts the verdict; this does not change `valid`. */
  contradicts?: true;
};

/** VIES's result for one part of the trader in the request. */
export type TraderPartMatch = 'valid' | 'invalid' | 'not_processed' | null;

/** How far one detail of the trader agrees: from 0 to 100, with the text of the source that agrees best. */
export type PartScore = { score: number; expected: string; found: string; source: string };

/** The comparison of the trader with all sources. A score is null when nothing could be compared. */
export type TraderScore = { score: number | null } & Record<
  'name' | 'street' | 'postal_code' | 'city',
  PartScore | null
>;

/** The check object, with the same values as in `GET /v1/checks/{id}`. */
export type Check = {
  id: string;
  object: 'check';
  /** True for checks that were made with a test key, otherwise absent. */
  test?: true;
  request_id: string;
  vat_number: string;
  country_code: string;
  input: string;
  valid: boolean;
  verdict: 'valid' | 'invalid' | 'malformed';
  name: string | null;
  address: string | null;
  requester_vat_number: string | null;
  consultation_number: string | null;
  trader_match: Record<'name' | 'street' | 'postal_code' | 'city' | 'company_type', TraderPartMatch> | null;
  /** The trader as given in the request. Absent from checks that are older than this field. */
  trader?: Partial<Record<'name' | 'street' | 'postal_code' | 'city' | 'company_type', string>> | null;
  /** Null without a trader. Absent, as `evidence_grade`, from checks that are older than these fields. */
  match?: TraderScore | null;
  evidence_grade?: 'none' | 'basic' | 'named' | 'corroborated' | 'qualified';
  reference: string | null;
  checks: CheckEntry[];
  checked_at: string;
  salt: string;
  hash_profile: string;
  /** The hash of the body of `GET /v1/checks/{id}`. The bytes of a webhook's body may differ and do not verify. */
  response_hash: string;
  timestamp: Record<string, unknown> | null;
  anchor: Record<string, unknown> | null;
};

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
  reason: 'UPSTREAM_NO_ANSWER' | 'NEVER_ASKED' | 'ACCOUNT_DISABLED' | 'INVALID_REQUESTER';
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
