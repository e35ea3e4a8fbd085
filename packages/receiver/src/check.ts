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
