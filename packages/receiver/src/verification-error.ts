/**
 * Why a delivery was not believed. The first four say that the sender is not the service (or that the clock is off), the
 * last three that the receiver is set up wrongly or that something on the way changed the request.
 */
export type VerificationErrorCode =
  /** A header is there and cannot be read: not a timestamp, not a signature, or given twice with different values. */
  | 'MALFORMED_HEADER'
  /** No signature, or a signature without its timestamp or id. */
  | 'MISSING_HEADER'
  /** No given secret makes this signature of this body. */
  | 'SIGNATURE_MISMATCH'
  /** Rightly signed, but too long ago or too far ahead of this machine's clock: a replay, or a wrong clock. */
  | 'TIMESTAMP_OUTSIDE_TOLERANCE'
  /** Rightly signed, but no JSON object with an `event`. */
  | 'INVALID_BODY'
  /** The body was parsed before it got here, so the signed bytes are gone. */
  | 'BODY_NOT_RAW'
  /** The receiver has no secret, or one that is not the `whsec_…` shown when the webhook was saved. */
  | 'INVALID_SECRET';

/** The one error of this package. `message` is meant for a log and holds neither secret nor expected signature. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** `A` agrees, `B` differs, `C` was not asked, `D` is not given by the member state. */
export type MatchLetter = 'A' | 'B' | 'C' | 'D';

/** What a register states about a trader, in its own words. Only what it states is there. */
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

/** What became of one source of a check. Times are RFC 3339 in UTC, durations whole milliseconds. */
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
  /** The source says the opposite of the verdict; `valid` is not changed by it. */
  contradicts?: true;
};

/** VIES's word on one part of the trader it was asked about. */
export type TraderPartMatch = 'valid' | 'invalid' | 'not_processed' | null;

/** The check object, with the same values as `GET /v1/checks/{id}`. Source: contract part 2 §4. */
export type Check = {
  id: string;
  object: 'check';
  /** Present, and true, only for checks made with a test key. */
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
  /** As it was given. Absent from checks that were recorded before this field existed. */
  trader?: Partial<Record<'name' | 'street' | 'postal_code' | 'city' | 'company_type', string>> | null;
  reference: string | null;
  checks: CheckEntry[];
  checked_at: string;
  salt: string;
  hash_profile: string;
  /** Verify it against the body of `GET /v1/checks/{id}`, never against a webhook's, whose bytes may differ. */
  response_hash: string;
  timestamp: Record<string, unknown> | null;
  anchor: Record<string, unknown> | null;
};
