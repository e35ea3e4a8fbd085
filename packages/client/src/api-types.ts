// Made from the OpenAPI document by `node scripts/docs.mjs`; do not edit.

/** The code of an error. */
export type ErrorCode =
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'RATE_LIMITED'
  | 'QUOTA_EXCEEDED'
  | 'ACCOUNT_DISABLED'
  | 'TOO_MANY_PENDING'
  | 'EMPTY_FILE'
  | 'TOO_MANY_ROWS'
  | 'INVALID_CSV'
  | 'INVALID_FILE'
  | 'MISSING_CANDIDATE'
  | 'MISSING_SUPPLY_DATE'
  | 'INVALID_REFERENCE'
  | 'BATCH_RUNNING'
  | 'FILE_TOO_LARGE'
  | 'TOO_MANY_BATCHES'
  | 'BATCH_LINE_LIMIT'
  | 'TOO_MANY_DOWNLOADS'
  | 'EXPORT_TOO_LARGE'
  | 'EXPORT_IN_PROGRESS'
  | 'INVALID_FORMAT'
  | 'WATCH_LIMIT'
  | 'FREQUENCY_NOT_ALLOWED'
  | 'WATCH_EXISTS'
  | 'NO_WEBHOOK'
  | 'TOO_MANY_DELIVERIES'
  | 'RESEND_TOO_LARGE'
  | 'INVALID_REQUESTER'
  | 'IDEMPOTENCY_MISMATCH'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'TEST_KEY_NOT_ALLOWED'
  | 'UPSTREAM_UNAVAILABLE'
  | 'INTERNAL'
  | 'INVALID_WEBHOOK_URL'
  | 'FORBIDDEN'
  | 'TOO_MANY_SIGN_INS'
  | 'TOO_MANY_SIGN_UPS'
  | 'EMAIL_TAKEN'
  | 'TOO_MANY_STREAMS'
  | 'KEY_LIMIT'
  | 'MEMBER_LIMIT'
  | 'LAST_OWNER';

/** The fields that an error can have beside its code and message. docs/errors.md says which code has which. */
export type ErrorFields = {
  fields?: Array<{
    path: string;
    message: string;
  }>;
  /** Seconds to wait, as in the Retry-After header. */
  retry_after?: number;
  reset_at?: string;
  pending?: number;
  checks?: Array<CheckEntry>;
  line?: number;
  active?: number;
  limit?: number;
  /** The matching deliveries. Counting ends at 100 000. */
  matched?: number;
};

/** The recorded outcome for one VAT number. It never changes: `trader`, `match` and `evidence_grade` are absent from checks that were recorded before the fields existed, and present in every other. */
export type Check = {
  id: string;
  object: 'check';
  test?: true;
  request_id: string;
  vat_number: string;
  country_code:
    | 'AT'
    | 'BE'
    | 'BG'
    | 'CY'
    | 'CZ'
    | 'DE'
    | 'DK'
    | 'EE'
    | 'EL'
    | 'ES'
    | 'FI'
    | 'FR'
    | 'HR'
    | 'HU'
    | 'IE'
    | 'IT'
    | 'LT'
    | 'LU'
    | 'LV'
    | 'MT'
    | 'NL'
    | 'PL'
    | 'PT'
    | 'RO'
    | 'SE'
    | 'SI'
    | 'SK'
    | 'XI';
  /** The VAT number as you sent it. */
  input: string;
  valid: boolean;
  verdict: 'valid' | 'invalid' | 'malformed';
  name: string | null;
  address: string | null;
  requester_vat_number: string | null;
  /** VIES's proof of the lookup. Only with a requester. */
  consultation_number: string | null;
  trader_match: TraderMatch | null;
  /** What you sent about the trader, or null. */
  trader?: Trader | null;
  /** Null without `trader`. */
  match?: Match | null;
  /** How strong the check is as evidence: `none` (not valid), `basic` (VIES says valid), `named` (a source states name and address), `corroborated` (a national register lists the trader), `qualified` (VIES or eVatR issued a proof of the lookup, and every detail of `trader` agrees). */
  evidence_grade?: 'none' | 'basic' | 'named' | 'corroborated' | 'qualified';
  reference: string | null;
  checks: Array<CheckEntry>;
  checked_at: string;
  salt: string;
  hash_profile: 'jcs-sha256-v1';
  /** SHA-256 of the RFC 8785 form of this object without response_hash, timestamp and anchor. */
  response_hash: string;
  /** Null until a requested time-stamp is available. */
  timestamp: TimestampFacts | null;
  /** Null until the check is in an anchor. */
  anchor: AnchorPosition | null;
};

/** The result of the comparison by VIES for each field of the trader that you sent. */
export type TraderMatch = {
  name: 'valid' | 'invalid' | 'not_processed' | null;
  street: 'valid' | 'invalid' | 'not_processed' | null;
  postal_code: 'valid' | 'invalid' | 'not_processed' | null;
  city: 'valid' | 'invalid' | 'not_processed' | null;
  company_type: 'valid' | 'invalid' | 'not_processed' | null;
};

/** What you sent about the trader. */
export type Trader = {
  name?: string;
  street?: string;
  postal_code?: string;
  city?: string;
  company_type?: string;
};

/** Our comparison of the trader that you sent with what VIES and the registers state, from 0 to 100. A detail is null when you did not send it or no source states it. It never changes `valid`. */
export type Match = {
  /** The whole score, at most that of the name. Null when nothing could be compared. */
  score: number | null;
  name: PartScore | null;
  street: PartScore | null;
  postal_code: PartScore | null;
  city: PartScore | null;
};

/** How far one detail of the trader agrees with what the sources state. */
export type PartScore = {
  score: number;
  /** The detail as you sent it. */
  expected: string;
  /** The text of the sources that agrees best, in the spelling of its source. */
  found: string;
  /** The source of `found`. */
  source:
    | 'syntax'
    | 'vies'
    | 'vies_confirmation'
    | 'pl_white_list'
    | 'cz_ares'
    | 'ro_anaf'
    | 'fr_recherche_entreprises'
    | 'fi_prh'
    | 'de_evatr'
    | 'gleif';
};

/** What one source contributed to the check. */
export type CheckEntry = {
  source:
    | 'syntax'
    | 'vies'
    | 'vies_confirmation'
    | 'pl_white_list'
    | 'cz_ares'
    | 'ro_anaf'
    | 'fr_recherche_entreprises'
    | 'fi_prh'
    | 'de_evatr'
    | 'gleif';
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
  /** The code that the source returned, such as MS_MAX_CONCURRENT_REQ. */
  code?: string;
  /** The number of lookups. */
  attempts?: number;
  /** The call waited longer than usual for a slot of its member state. */
  backpressure?: true;
  started_at: string;
  duration_ms: number;
  /** An explanation for people. */
  detail?: string;
  facts?: SourceFacts;
  /** The source contradicts the verdict. This never changes `valid`. */
  contradicts?: true;
};

/** What a register states. A fact that the source does not state is absent. */
export type SourceFacts = {
  /** The name in the register. */
  name?: string;
  /** The address in the register, on one line. */
  address?: string;
  /** The legal form, or the register's code for it. */
  legal_form?: string;
  /** The status of the registration in the words of the source, such as `Czynny` or `AKTIVNI`. */
  status?: string;
  /** The start of the registration, as the source writes it. */
  registered_since?: string;
  /** The end of the registration. Absent while the registration is in force. */
  registered_until?: string;
  /** The identifier in that register. */
  register_id?: string;
  /** The company's active VAT numbers, according to the source. */
  vat_numbers?: Array<string>;
  /** The source's proof of the lookup. */
  receipt?: string;
  /** The comparison of the trader by eVatR: `A` matches, `B` differs, `C` was not requested, `D` is not provided by the member state. */
  matches?: {
    name: 'A' | 'B' | 'C' | 'D';
    street: 'A' | 'B' | 'C' | 'D';
    postal_code: 'A' | 'B' | 'C' | 'D';
    city: 'A' | 'B' | 'C' | 'D';
  };
};

/** The facts of a verified RFC 3161 time-stamp. */
export type TimestampFacts = {
  /** When the authority received the hash, according to the authority. */
  gen_time: string;
  /** The accuracy of gen_time. Null when the authority does not state it. */
  accuracy_ms: number | null;
  /** The serial number of the token, in hex. */
  serial: string;
  /** The object identifier of the policy. */
  policy: string;
  /** The name in the signer's certificate. */
  authority: string;
  /** True for a token of the built-in development authority, which proves nothing about time. */
  development: boolean;
};

/** The position of the check in its anchor. */
export type AnchorPosition = {
  anchor_id: string;
  seq: number;
  leaf_index: number;
  tree_size: number;
};

/** The upstream has not answered yet. The request continues in the background. */
export type Acceptance = {
  request_id: string;
  test?: true;
  status: 'pending';
  poll_url: string;
  accepted_at: string;
  give_up_at: string;
  checks: Array<CheckEntry>;
};

/** The public link of a check. */
export type CheckLink = {
  /** Shows and verifies the check without an account. Anyone who has it can read the whole check. */
  url: string;
};

/** A request for a check, from its acceptance to its end. */
export type Request = {
  id: string;
  object: 'request';
  test?: true;
  status: 'pending' | 'completed' | 'abandoned';
  vat_number: string;
  created_at: string;
  accepted_at: string | null;
  give_up_at: string | null;
  attempts: number;
  next_attempt_at: string | null;
  last_error: string | null;
  reason: 'UPSTREAM_NO_ANSWER' | 'NEVER_ASKED' | 'ACCOUNT_DISABLED' | 'INVALID_REQUESTER' | null;
  check: Check | null;
};

/** A time-stamp over the hashed bytes of a check. */
export type Timestamp = {
  object: 'timestamp';
  check_id: string;
  requested_at: string;
  status: 'stamped';
  /** When the authority received the hash, according to the authority. */
  gen_time: string;
  /** The accuracy of gen_time. Null when the authority does not state it. */
  accuracy_ms: number | null;
  /** The serial number of the token, in hex. */
  serial: string;
  /** The object identifier of the policy. */
  policy: string;
  /** The name in the signer's certificate. */
  authority: string;
  /** True for a token of the built-in development authority, which proves nothing about time. */
  development: boolean;
};

/** The authority has not answered yet. The time-stamp is requested again until it does. */
export type PendingTimestamp = {
  object: 'timestamp';
  check_id: string;
  requested_at: string;
  status: 'pending';
  attempts: number;
  next_attempt_at: string | null;
  /** Why the latest attempt failed, such as `unreachable`. */
  last_error: string | null;
};

/** An RFC 9162 inclusion proof of a check in its anchor. */
export type AnchorProof = {
  anchor_id: string;
  leaf_index: number;
  tree_size: number;
  /** The hashes from the leaf to the root. The leaf is the 32 bytes of `response_hash`. */
  path: Array<string>;
};

/** The Merkle tree of all checks recorded since the previous anchor. Its RFC 8785 form without `anchor_id` is hashed, chained and time-stamped. */
export type Anchor = {
  anchor_id: string;
  v: 1;
  /** The number of the anchor: 1 for the first one, without gaps. */
  seq: number;
  alg: 'rfc9162-sha256';
  closed_at: string;
  tree_size: number;
  root: string;
  /** SHA-256 of the RFC 8785 form of the previous anchor. Zeros in the first anchor. */
  prev_anchor_hash: string;
};

/** The program of this release that verifies dossiers. */
export type Verifier = {
  object: 'verifier';
  file_name: 'verify.py';
  /** SHA-256 of the file, in hex. */
  sha256: string;
  /** The size in bytes. */
  size: number;
  /** The URL of the file. */
  url: string;
};

/** An uploaded file of VAT numbers. */
export type Batch = {
  batch_id: string;
  object: 'batch';
  status: 'queued' | 'running' | 'completed';
  label: string | null;
  /** The name that you sent, without folders. */
  file_name: string | null;
  /** Lines of the file. */
  total: number;
  /** Lines that have a check. */
  done: number;
  /** Lines that ended with an error. Once completed, done + failed = total. */
  failed: number;
  /** Lines whose check is valid. */
  valid: number;
  /** Lines whose check is invalid or malformed. valid + invalid = done. */
  invalid: number;
  /** When the batch will be completed, estimated from what its member states do now and did at this hour of past days. Null when unknown, as while one of them is down, and once completed. */
  eta: string | null;
  /** Member states of its queued lines that are down or saturated now. */
  waiting_for: Array<
    | 'AT'
    | 'BE'
    | 'BG'
    | 'CY'
    | 'CZ'
    | 'DE'
    | 'DK'
    | 'EE'
    | 'EL'
    | 'ES'
    | 'FI'
    | 'FR'
    | 'HR'
    | 'HU'
    | 'IE'
    | 'IT'
    | 'LT'
    | 'LU'
    | 'LV'
    | 'MT'
    | 'NL'
    | 'PL'
    | 'PT'
    | 'RO'
    | 'SE'
    | 'SI'
    | 'SK'
    | 'XI'
  >;
  created_at: string;
  completed_at: string | null;
};

/** One row of the file. */
export type BatchLine = {
  line_id: string;
  /** The line of the file where the row begins, counted from 1 as in a text editor, or the row of the sheet. */
  line: number;
  status: 'queued' | 'done' | 'failed';
  /** The VAT number as it is in the file. */
  input: string;
  /** The normalised VAT number. Null when its country cannot be determined. */
  vat_number: string | null;
  reference: string | null;
  /** The result of the check. Null until the line is done, and for failed lines. */
  valid: boolean | null;
  /** The verdict of the check. Null like `valid`, and once the check is deleted. */
  verdict: 'valid' | 'invalid' | 'malformed' | null;
  /** The name in the check. Null where the member state discloses none. */
  name: string | null;
  /** The check. Lines with the same number and requester share one. */
  check_id: string | null;
  /** Why the line has no check. Other lines are not affected. */
  error: {
    code:
      | 'INVALID_REFERENCE'
      | 'BAD_REQUEST'
      | 'INVALID_REQUESTER'
      | 'QUOTA_EXCEEDED'
      | 'UPSTREAM_NO_ANSWER'
      | 'NEVER_ASKED'
      | 'ACCOUNT_DISABLED';
    message: string;
  } | null;
};

/** Whether the number of every supply in a file was checked in time. */
export type Coverage = {
  coverage_id: string;
  object: 'coverage';
  label: string | null;
  /** The name that you sent, without folders. */
  file_name: string | null;
  max_age_days: number;
  min_grade: 'basic' | 'named' | 'corroborated' | 'qualified';
  /** Lines of the file; the sum of the five counts. */
  total: number;
  /** Lines with a valid check in time, of at least `min_grade`. */
  covered: number;
  /** Lines whose last check says valid, but is more than `max_age_days` older than the supply. */
  stale: number;
  /** Lines with a valid check in time, of a lower grade. */
  weak: number;
  /** Lines whose last check before the supply says that the number is not valid. */
  invalid: number;
  /** Lines without a check before the supply, or without a number. */
  missing: number;
  /** The batch of the uncovered numbers. Null without one, and once it is deleted. */
  batch_id: string | null;
  /** The time of the result. Later checks do not change it. */
  created_at: string;
};

/** One supply of the file. */
export type CoverageLine = {
  line_id: string;
  /** The line of the file where the row begins, counted from 1 as in a text editor, or the row of the sheet. */
  line: number;
  status: 'covered' | 'stale' | 'weak' | 'invalid' | 'missing';
  /** The VAT number as it is in the file. */
  input: string;
  /** The normalised VAT number. Null when its country cannot be determined. */
  vat_number: string | null;
  /** The date as it was read. */
  supply_date: string;
  reference: string | null;
  /** The check that covers the line; otherwise the last check before the supply. It may be deleted since. */
  check_id: string | null;
  checked_at: string | null;
  /** The grade of the check. */
  evidence_grade: 'none' | 'basic' | 'named' | 'corroborated' | 'qualified' | null;
  /** Why the number or the reference of the line cannot be used. */
  error: {
    code:
      | 'INVALID_REFERENCE'
      | 'BAD_REQUEST'
      | 'INVALID_REQUESTER'
      | 'QUOTA_EXCEEDED'
      | 'UPSTREAM_NO_ANSWER'
      | 'NEVER_ASKED'
      | 'ACCOUNT_DISABLED';
    message: string;
  } | null;
};

/** A VAT number that is checked regularly. */
export type Watch = {
  watch_id: string;
  object: 'watch';
  vat_number: string;
  label: string | null;
  frequency: 'weekly' | 'daily';
  status: 'active' | 'paused';
  /** The latest check. Null before the first one. */
  last_check_id: string | null;
  last_checked_at: string | null;
  /** Since when the number could not be checked: the time of the first run without a check after the last check. Null when the last run ended with a check. */
  missed_since: string | null;
  /** The time of the next check while the watch is active. At most 24 hours away after a run without a check. */
  next_check_at: string;
  created_at: string;
};

/** A difference between two checks. `before` and `after` are booleans for `validity`, and text or null for `name` and `address`. */
export type WatchChange = {
  kind: 'validity' | 'name' | 'address';
  before: boolean | string | null;
  after: boolean | string | null;
  /** The check that found the change. */
  check_id: string;
  changed_at: string;
};

/** The account's endpoint. */
export type Webhook = {
  /** The URL as you entered it. */
  url: string;
  /** The first 8 characters of the secret. The whole secret is shown only once. */
  secret_prefix: string;
  configured_at: string;
};

/** The delivery of one event to your endpoint. */
export type Delivery = {
  delivery_id: string;
  event: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test';
  event_id: string;
  status: 'pending' | 'successful' | 'failed';
  /** The number of attempts made. */
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  last_attempt: {
    at: string;
    /** The status of the response. Null when no response arrived. */
    status_code: number | null;
    duration_ms: number;
    /** `WEBHOOK_REMOVED` when the endpoint was removed before the delivery ended. */
    error: string | null;
  } | null;
};

/** A delivery with its body and its attempts. */
export type DeliveryDetail = {
  delivery_id: string;
  event: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test';
  event_id: string;
  status: 'pending' | 'successful' | 'failed';
  /** The number of attempts made. */
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  last_attempt: {
    at: string;
    /** The status of the response. Null when no response arrived. */
    status_code: number | null;
    duration_ms: number;
    /** `WEBHOOK_REMOVED` when the endpoint was removed before the delivery ended. */
    error: string | null;
  } | null;
  /** The body of the event, with its keys in the order in which they are sent. */
  body: Record<string, unknown>;
  /** The attempts, oldest first. */
  attempts_log: Array<DeliveryAttempt>;
};

/** One attempt of a delivery. */
export type DeliveryAttempt = {
  attempt: number;
  at: string;
  /** The URL that was called. */
  url: string;
  /** The status of the response. Null when no response arrived. */
  status_code: number | null;
  duration_ms: number;
  /** `CLASS: sentence`. Null when a complete response arrived, whatever its status. */
  error: string | null;
  /** The IP address of the connection, or the first one that was tried. Null when there was none. */
  address: string | null;
  /** Milliseconds. Null where a phase did not take place, as on a reused connection. */
  timings: {
    dns_ms: number | null;
    tcp_ms: number | null;
    tls_ms: number | null;
    first_byte_ms: number | null;
    total_ms: number;
  };
  /** The first 2 KiB of the response body, read as UTF-8. */
  answer: string;
  answer_truncated: boolean;
};

/** Something that happened, whether there is an endpoint to send it to or not. */
export type Event = {
  /** The `webhook-id` of its deliveries. */
  event_id: string;
  type: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test';
  created_at: string;
  /** Only where a test key caused the event. */
  test?: true;
  /** What deliveries of the event send. */
  body:
    | {
        event: 'check.completed';
        /** Only in events of test requests. */
        test?: true;
        request_id: string;
        check: Check;
      }
    | {
        event: 'check.failed';
        /** Only in events of test requests. */
        test?: true;
        request_id: string;
        reason: 'UPSTREAM_NO_ANSWER' | 'NEVER_ASKED' | 'ACCOUNT_DISABLED' | 'INVALID_REQUESTER';
        /** The last code of the upstream, if there was one. */
        last_error?: string;
      }
    | {
        event: 'batch.completed';
        batch_id: string;
        /** Lines of the file. */
        total: number;
        /** Lines that have a check. */
        done: number;
        /** Lines that ended with an error. */
        failed: number;
      }
    | {
        event: 'watch.changed';
        watch_id: string;
        vat_number: string;
        label: string | null;
        kind: 'validity' | 'name' | 'address';
        before: boolean | string | null;
        after: boolean | string | null;
        check_id: string;
      }
    | {
        event: 'webhook.test';
        sent_at: string;
      };
};

/** The checks of the current month. */
export type Usage = {
  /** The calendar month in UTC. */
  period: string;
  plan: 'free' | 'starter' | 'business' | 'enterprise';
  limit: number;
  /** Checks that were recorded this month. */
  used: number;
  /** Checks that are reserved for requests in progress. */
  reserved: number;
  reset_at: string;
};

/** The recent availability of each member state, as observed by this service. */
export type Status = {
  generated_at: string;
  /** The period of the figures. */
  window_seconds: number;
  member_states: Array<{
    member_state:
      | 'AT'
      | 'BE'
      | 'BG'
      | 'CY'
      | 'CZ'
      | 'DE'
      | 'DK'
      | 'EE'
      | 'EL'
      | 'ES'
      | 'FI'
      | 'FR'
      | 'HR'
      | 'HU'
      | 'IE'
      | 'IT'
      | 'LT'
      | 'LU'
      | 'LV'
      | 'MT'
      | 'NL'
      | 'PL'
      | 'PT'
      | 'RO'
      | 'SE'
      | 'SI'
      | 'SK'
      | 'XI';
    health: 'ok' | 'degraded' | 'down' | 'unknown';
    asks: number;
    answered: number | null;
    saturated: number | null;
    unavailable: number | null;
    p50_ms: number | null;
    p95_ms: number | null;
    /** Requests that are due and not answered yet, counted up to 10000 of each class. */
    queue_depth: number;
    /** How long the oldest of them waits, and of lines of batches. */
    oldest_wait_ms: number | null;
    /** The same by class. */
    oldest_waits_ms: {
      /** Calls whose callers wait. */
      interactive: number | null;
      /** Calls that were answered 202. */
      background: number | null;
      /** Lines of batches. */
      batch: number | null;
      /** Runs of watches. */
      watch: number | null;
    };
  }>;
};

/** The lookups of one member state within one hour. */
export type StatusHour = {
  /** The beginning of the hour, in UTC. */
  hour: string;
  member_state:
    | 'AT'
    | 'BE'
    | 'BG'
    | 'CY'
    | 'CZ'
    | 'DE'
    | 'DK'
    | 'EE'
    | 'EL'
    | 'ES'
    | 'FI'
    | 'FR'
    | 'HR'
    | 'HU'
    | 'IE'
    | 'IT'
    | 'LT'
    | 'LU'
    | 'LV'
    | 'MT'
    | 'NL'
    | 'PL'
    | 'PT'
    | 'RO'
    | 'SE'
    | 'SI'
    | 'SK'
    | 'XI';
  /** Lookups of the hour: answered + saturated + unavailable. */
  asked: number;
  /** Lookups that the member state answered, valid or not. */
  answered: number;
  /** Lookups that were refused because of too many requests. */
  saturated: number;
  /** Lookups without an answer for any other reason. */
  unavailable: number;
  p50_ms: number | null;
  p95_ms: number | null;
};

/** The operations of the API by `operationId`: what each takes, and its successful answers. */
export type Operations = {
  /** Check a VAT number. */
  createCheck: {
    input: {
      body: {
        /** The VAT number in any notation, with or without its country prefix. */
        vat_number: string;
        /** Two letters. Required when the number has no country prefix. GR and EL both mean Greece. */
        country_code?: string | undefined;
        /** Your own VAT number. VIES then issues a consultation number as proof of the lookup. */
        requester_vat_number?: string | undefined;
        /** Your own reference for this check, 1 to 64 printable characters. */
        reference?: string | undefined;
        /** What you know about the trader. VIES compares it approximately where the member state supports that. */
        trader?:
          | {
              name?: string | undefined;
              street?: string | undefined;
              postal_code?: string | undefined;
              city?: string | undefined;
              /** The legal form in the codes of VIES: a member state, a hyphen, and a number from 1 to 99, such as ES-1. */
              company_type?: string | undefined;
            }
          | undefined;
      };
    };
    output: { status: 201; body: Check } | { status: 202; body: Acceptance };
  };
  /** List checks, newest first. */
  listChecks: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
        valid?: boolean | undefined;
        vat_number?: string | undefined;
        from?: string | undefined;
        to?: string | undefined;
        reference?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Check>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get a check. */
  getCheck: {
    input: {
      id: string;
    };
    output: { status: 200; body: Check };
  };
  /** Get the hashed bytes of a check. */
  getCheckEvidence: {
    input: {
      id: string;
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Get the public link of a check. */
  getCheckLink: {
    input: {
      id: string;
    };
    output: { status: 200; body: CheckLink };
  };
  /** Get a request that was accepted with 202. */
  getRequest: {
    input: {
      id: string;
    };
    output: { status: 200; body: Request };
  };
  /** Time-stamp a check. */
  createTimestamp: {
    input: {
      id: string;
    };
    output:
      | { status: 200; body: Timestamp }
      | { status: 201; body: Timestamp }
      | { status: 202; body: PendingTimestamp };
  };
  /** Get a check's time-stamp. */
  getTimestamp: {
    input: {
      id: string;
    };
    output: { status: 200; body: Timestamp };
  };
  /** Get the authority's response. */
  getTimestampToken: {
    input: {
      id: string;
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Get the proof that a check is in its anchor. */
  getAnchorProof: {
    input: {
      id: string;
    };
    output: { status: 200; body: AnchorProof };
  };
  /** Get the certificate of a check. */
  getCertificate: {
    input: {
      id: string;
      query?: {
        /** The language of the document. */
        lang?: 'en' | 'de' | 'fr' | 'it' | 'es' | 'pl' | 'nl' | undefined;
      };
    };
    output: { status: 200; body: Uint8Array };
  };
  /** List anchors, newest first. */
  listAnchors: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Anchor>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get an anchor. */
  getAnchor: {
    input: {
      id: string;
    };
    output: { status: 200; body: Anchor };
  };
  /** Get the authority's response for an anchor. */
  getAnchorToken: {
    input: {
      id: string;
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Export the account's evidence. */
  exportDossier: {
    input: {
      query?: {
        vat_number?: string | undefined;
        from?: string | undefined;
        to?: string | undefined;
        reference?: string | undefined;
        /** Only the checks that cover the supplies of this coverage, with its report. Not with other filters. */
        coverage_id?: string | undefined;
      };
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Get the SHA-256 of the dossier verifier. */
  getVerifier: { input: Record<string, never>; output: { status: 200; body: Verifier } };
  /** Download the dossier verifier. */
  getVerifierFile: { input: Record<string, never>; output: { status: 200; body: Uint8Array } };
  /** Check a file of numbers. */
  createBatch: {
    input: {
      query?: {
        /** Your own name for the batch, 1 to 100 printable characters. */
        label?: string | undefined;
        /** Your own VAT number, for all lines without a requester of their own. */
        requester_vat_number?: string | undefined;
        /** The name of the sheet of an .xlsx file. Without it the first sheet with data is read. */
        sheet?: string | undefined;
      };
      file: { bytes: Uint8Array; name?: string | undefined };
    };
    output: { status: 201; body: Batch };
  };
  /** List batches, newest first. */
  listBatches: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Batch>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get a batch with its counts. */
  getBatch: {
    input: {
      id: string;
    };
    output: { status: 200; body: Batch };
  };
  /** Delete a completed batch. */
  deleteBatch: {
    input: {
      id: string;
    };
    output: { status: 204; body: undefined };
  };
  /** List the lines of a batch, in the order of the file. */
  listBatchLines: {
    input: {
      id: string;
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
        status?: 'queued' | 'done' | 'failed' | undefined;
        valid?: boolean | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<BatchLine>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Download the file with its results. */
  getBatchResults: {
    input: {
      id: string;
      query?: {
        delimiter?: ',' | ';' | 'tab' | undefined;
        bom?: boolean | undefined;
      };
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Download the file with its results as an Excel workbook. */
  getBatchWorkbook: {
    input: {
      id: string;
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Find out whether every supply was checked in time. */
  createCoverage: {
    input: {
      query?: {
        /** Your own name for the coverage, 1 to 100 printable characters. */
        label?: string | undefined;
        /** Days that a check may be older than the supply. */
        max_age_days?: number | undefined;
        /** The evidence grade that a check needs at least. */
        min_grade?: 'basic' | 'named' | 'corroborated' | 'qualified' | undefined;
        /** True makes a batch of the uncovered numbers. */
        queue_gaps?: boolean | undefined;
        /** The name of the sheet of an .xlsx file. Without it the first sheet with data is read. */
        sheet?: string | undefined;
      };
      file: { bytes: Uint8Array; name?: string | undefined };
    };
    output: { status: 201; body: Coverage };
  };
  /** List coverages, newest first. */
  listCoverages: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Coverage>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get a coverage with its counts. */
  getCoverage: {
    input: {
      id: string;
    };
    output: { status: 200; body: Coverage };
  };
  /** Delete a coverage. */
  deleteCoverage: {
    input: {
      id: string;
    };
    output: { status: 204; body: undefined };
  };
  /** List the lines of a coverage, in the order of the file. */
  listCoverageLines: {
    input: {
      id: string;
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
        status?: 'covered' | 'stale' | 'weak' | 'invalid' | 'missing' | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<CoverageLine>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Download the file with the result of every line. */
  getCoverageResults: {
    input: {
      id: string;
      query?: {
        delimiter?: ',' | ';' | 'tab' | undefined;
        bom?: boolean | undefined;
      };
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Download the result of every line as an Excel workbook. */
  getCoverageWorkbook: {
    input: {
      id: string;
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Get the report of a coverage. */
  getCoverageReport: {
    input: {
      id: string;
      query?: {
        /** The language of the document. */
        lang?: 'en' | 'de' | 'fr' | 'it' | 'es' | 'pl' | 'nl' | undefined;
      };
    };
    output: { status: 200; body: Uint8Array };
  };
  /** Watch a VAT number. */
  createWatch: {
    input: {
      body: {
        /** The VAT number in any notation, with or without its country prefix. */
        vat_number: string;
        /** Two letters. Required when the number has no country prefix. GR and EL both mean Greece. */
        country_code?: string | undefined;
        /** Your own name for the watch, 1 to 100 printable characters, or null. */
        label?: string | null | undefined;
        /** How often the number is checked. Your plan determines which frequencies are available. */
        frequency: 'weekly' | 'daily';
        /** Your own VAT number. Each run then has a consultation number as proof of the lookup. */
        requester_vat_number?: string | undefined;
      };
    };
    output: { status: 201; body: Watch };
  };
  /** List watches, newest first. */
  listWatches: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Watch>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get a watch. */
  getWatch: {
    input: {
      id: string;
    };
    output: { status: 200; body: Watch };
  };
  /** Update a watch. */
  updateWatch: {
    input: {
      id: string;
      body: {
        /** Your own name for the watch, 1 to 100 printable characters, or null. */
        label?: string | null | undefined;
        frequency?: 'weekly' | 'daily' | undefined;
        /** `paused` stops the runs; `active` resumes them. */
        status?: 'active' | 'paused' | undefined;
      };
    };
    output: { status: 200; body: Watch };
  };
  /** Delete a watch. */
  deleteWatch: {
    input: {
      id: string;
    };
    output: { status: 204; body: undefined };
  };
  /** List the changes of a watch, newest first. */
  listWatchChanges: {
    input: {
      id: string;
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<WatchChange>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get the webhook endpoint. */
  getWebhook: { input: Record<string, never>; output: { status: 200; body: Webhook } };
  /** Send a test event. */
  sendTestEvent: {
    input: Record<string, never>;
    output: {
      status: 202;
      body: {
        delivery_id: string;
      };
    };
  };
  /** List deliveries, newest first. */
  listDeliveries: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
        status?: 'pending' | 'successful' | 'failed' | undefined;
        event?: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test' | undefined;
        from?: string | undefined;
        to?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        data: Array<Delivery>;
        /** Send it as `cursor` to get the next page. Null on the last page. */
        next_cursor: string | null;
      };
    };
  };
  /** Get a delivery with its body and attempts. */
  getDelivery: {
    input: {
      id: string;
    };
    output: { status: 200; body: DeliveryDetail };
  };
  /** Resend the events of many deliveries. */
  resendDeliveries: {
    input: {
      body: {
        from: string;
        to: string;
        /** Only deliveries of this status; both without it. With `failed`, events whose last delivery was successful are left out. */
        status?: 'failed' | 'successful' | undefined;
        /** Only deliveries of this event. */
        event?: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test' | undefined;
      };
    };
    output: {
      status: 202;
      body: {
        resend_id: string;
        /** The deliveries that match. */
        matched: number;
        /** The new deliveries: one for each event, except events with a pending delivery and, with `failed`, those that were delivered later. */
        queued: number;
      };
    };
  };
  /** Resend the event of a delivery. */
  resendDelivery: {
    input: {
      id: string;
    };
    output: {
      status: 202;
      body: {
        delivery_id: string;
      };
    };
  };
  /** List events, or follow them. */
  listEvents: {
    input: {
      query?: {
        limit?: number | undefined;
        cursor?: string | undefined;
        type?: 'check.completed' | 'check.failed' | 'batch.completed' | 'watch.changed' | 'webhook.test' | undefined;
        from?: string | undefined;
        to?: string | undefined;
        /** The id of an event, or `start`: the events after it, oldest first. Not with `cursor`, `from` or `to`. */
        after?: string | undefined;
        /** Seconds to wait until there is an event. Only with `after`. */
        wait?: number | undefined;
      };
    };
    output: {
      status: 200;
      body:
        | {
            data: Array<Event>;
            /** Send it as `cursor` to get the next page. Null on the last page. */
            next_cursor: string | null;
          }
        | {
            data: Array<Event>;
            /** Send it as `after` to continue. Null after `start` while there is no event: send `start` again. */
            last_event_id: string | null;
          };
    };
  };
  /** Get an event. */
  getEvent: {
    input: {
      id: string;
    };
    output: { status: 200; body: Event };
  };
  /** Get the usage of the current month. */
  getUsage: { input: Record<string, never>; output: { status: 200; body: Usage } };
  /** Get the recent availability of each member state. */
  getStatus: { input: Record<string, never>; output: { status: 200; body: Status } };
  /** Get the availability of the member states by the hour. */
  getStatusHistory: {
    input: {
      query?: {
        /** Only this member state. */
        member_state?:
          | 'AT'
          | 'BE'
          | 'BG'
          | 'CY'
          | 'CZ'
          | 'DE'
          | 'DK'
          | 'EE'
          | 'EL'
          | 'ES'
          | 'FI'
          | 'FR'
          | 'HR'
          | 'HU'
          | 'IE'
          | 'IT'
          | 'LT'
          | 'LU'
          | 'LV'
          | 'MT'
          | 'NL'
          | 'PL'
          | 'PT'
          | 'RO'
          | 'SE'
          | 'SI'
          | 'SK'
          | 'XI'
          | undefined;
        from?: string | undefined;
        to?: string | undefined;
      };
    };
    output: {
      status: 200;
      body: {
        from: string;
        to: string;
        /** Oldest first. Hours without a lookup are omitted. */
        data: Array<StatusHour>;
      };
    };
  };
};

/** How each operation is called. `idempotent`: takes an Idempotency-Key; `bytes`: answers with a file. */
export const OPERATIONS = {
  createCheck: { method: 'POST', path: '/v1/checks', idempotent: true },
  listChecks: { method: 'GET', path: '/v1/checks' },
  getCheck: { method: 'GET', path: '/v1/checks/{id}' },
  getCheckEvidence: { method: 'GET', path: '/v1/checks/{id}/evidence', bytes: true },
  getCheckLink: { method: 'GET', path: '/v1/checks/{id}/link' },
  getRequest: { method: 'GET', path: '/v1/requests/{id}' },
  createTimestamp: { method: 'POST', path: '/v1/checks/{id}/timestamp', idempotent: true },
  getTimestamp: { method: 'GET', path: '/v1/checks/{id}/timestamp' },
  getTimestampToken: { method: 'GET', path: '/v1/checks/{id}/timestamp.tsr', bytes: true },
  getAnchorProof: { method: 'GET', path: '/v1/checks/{id}/anchor' },
  getCertificate: { method: 'GET', path: '/v1/checks/{id}/certificate.pdf', bytes: true },
  listAnchors: { method: 'GET', path: '/v1/anchors' },
  getAnchor: { method: 'GET', path: '/v1/anchors/{id}' },
  getAnchorToken: { method: 'GET', path: '/v1/anchors/{id}.tsr', bytes: true },
  exportDossier: { method: 'GET', path: '/v1/exports/dossier.zip', bytes: true },
  getVerifier: { method: 'GET', path: '/verifier' },
  getVerifierFile: { method: 'GET', path: '/verifier/verify.py', bytes: true },
  createBatch: { method: 'POST', path: '/v1/batches', idempotent: true },
  listBatches: { method: 'GET', path: '/v1/batches' },
  getBatch: { method: 'GET', path: '/v1/batches/{id}' },
  deleteBatch: { method: 'DELETE', path: '/v1/batches/{id}' },
  listBatchLines: { method: 'GET', path: '/v1/batches/{id}/lines' },
  getBatchResults: { method: 'GET', path: '/v1/batches/{id}/results.csv', bytes: true },
  getBatchWorkbook: { method: 'GET', path: '/v1/batches/{id}/results.xlsx', bytes: true },
  createCoverage: { method: 'POST', path: '/v1/coverage', idempotent: true },
  listCoverages: { method: 'GET', path: '/v1/coverage' },
  getCoverage: { method: 'GET', path: '/v1/coverage/{id}' },
  deleteCoverage: { method: 'DELETE', path: '/v1/coverage/{id}' },
  listCoverageLines: { method: 'GET', path: '/v1/coverage/{id}/lines' },
  getCoverageResults: { method: 'GET', path: '/v1/coverage/{id}/results.csv', bytes: true },
  getCoverageWorkbook: { method: 'GET', path: '/v1/coverage/{id}/results.xlsx', bytes: true },
  getCoverageReport: { method: 'GET', path: '/v1/coverage/{id}/report.pdf', bytes: true },
  createWatch: { method: 'POST', path: '/v1/watches', idempotent: true },
  listWatches: { method: 'GET', path: '/v1/watches' },
  getWatch: { method: 'GET', path: '/v1/watches/{id}' },
  updateWatch: { method: 'PATCH', path: '/v1/watches/{id}' },
  deleteWatch: { method: 'DELETE', path: '/v1/watches/{id}' },
  listWatchChanges: { method: 'GET', path: '/v1/watches/{id}/changes' },
  getWebhook: { method: 'GET', path: '/v1/webhook' },
  sendTestEvent: { method: 'POST', path: '/v1/webhook/test' },
  listDeliveries: { method: 'GET', path: '/v1/webhook/deliveries' },
  getDelivery: { method: 'GET', path: '/v1/webhook/deliveries/{id}' },
  resendDeliveries: { method: 'POST', path: '/v1/webhook/deliveries/resend', idempotent: true },
  resendDelivery: { method: 'POST', path: '/v1/webhook/deliveries/{id}/resend' },
  listEvents: { method: 'GET', path: '/v1/events' },
  getEvent: { method: 'GET', path: '/v1/events/{id}' },
  getUsage: { method: 'GET', path: '/v1/usage' },
  getStatus: { method: 'GET', path: '/v1/status' },
  getStatusHistory: { method: 'GET', path: '/v1/status/history' },
} as const;
