/**
 * The reason why a delivery was refused. With one of the first four, the sender is not the service or a clock is wrong.
 * With one of the last three, the receiver is misconfigured or an intermediary changed the request.
 */
export type VerificationErrorCode =
  /** A header is present but cannot be read: it is not a timestamp or signature, or it has two different values. */
  | 'MALFORMED_HEADER'
  /** No signature, or a signature without its timestamp or id. */
  | 'MISSING_HEADER'
  /** The signature does not match the body with any of the given secrets. */
  | 'SIGNATURE_MISMATCH'
  /**
   * The signature is correct, but the timestamp is too far behind or ahead of this machine's clock: a replay, or a
   * wrong clock.
   */
  | 'TIMESTAMP_OUTSIDE_TOLERANCE'
  /** The signature is correct, but the body is not a JSON object with an `event`. */
  | 'INVALID_BODY'
  /** The body is already parsed, so the signed bytes are not available. */
  | 'BODY_NOT_RAW'
  /** The receiver has no secret, or one that does not have the form `whsec_…`. */
  | 'INVALID_SECRET';

/**
 * The only error class of this package. `message` is meant for a log and contains neither secret nor expected
 * signature.
 */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly code: VerificationErrorCode;

  constructor(code: VerificationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

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
