import { MAX_DOWNLOADS, MAX_UPLOADED_LINES } from './batch/batch.js';
import { MAX_ON_DEMAND_DELIVERIES, MAX_RESENT_DELIVERIES } from './delivery/delivery.js';

/** The specification of an error of the API. `extra` names its fields beside `code` and `message`. */
export type ErrorSpec = {
  status: number;
  /** The same call can succeed later unchanged. */
  retryable?: true;
  /** The default message. */
  message: string;
  /** What to do about it; goes into the docs and the dashboard. */
  remedy: string;
  extra?: readonly string[];
  /** No call is answered with it: it is only in `error` of a line of a file. */
  lineOnly?: true;
};

/** A number with its digits in groups of three, as messages show it. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ');

/**
 * All errors of the API: the only definition of a code, its status and its default message. Validation, OpenAPI, tests and
 * docs/errors.md derive from it.
 */
export const ERROR_CATALOGUE = {
  BAD_REQUEST: {
    status: 400,
    message: 'The request is not valid.',
    remedy: 'Correct the fields named in `fields` and send the call again.',
    extra: ['fields'],
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'The API key is missing, malformed, unknown or revoked.',
    remedy: 'Send `Authorization: Bearer KEY` with a key of your account.',
  },
  NOT_FOUND: {
    status: 404,
    message: 'There is nothing here, or it is not yours.',
    remedy: 'Check the path and the id.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This path does not accept that method.',
    remedy: 'Use a method of the `Allow` header.',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    message: 'Too many calls in one second.',
    remedy: 'Wait `retry_after` seconds; spread calls evenly.',
    extra: ['retry_after'],
  },
  QUOTA_EXCEEDED: {
    status: 429,
    retryable: true,
    message: "The month's checks are used up.",
    remedy: 'Wait until `reset_at` or move to a larger plan.',
    extra: ['reset_at'],
  },
  ACCOUNT_DISABLED: {
    status: 403,
    message: 'The account is disabled.',
    remedy: 'Contact the operator of the service.',
  },
  TOO_MANY_PENDING: {
    status: 429,
    retryable: true,
    message: '200 background requests are already pending.',
    remedy: 'Wait `retry_after` seconds for some of them to finish.',
    extra: ['retry_after', 'pending', 'checks'],
  },
  EMPTY_FILE: {
    status: 400,
    message: 'The file has no data row.',
    remedy: 'Upload a CSV file or an Excel workbook with at least one VAT number.',
  },
  TOO_MANY_ROWS: {
    status: 400,
    message: 'The file has more than 10 000 rows.',
    remedy: 'Split the file.',
  },
  INVALID_CSV: {
    status: 400,
    message: 'The file cannot be read as CSV.',
    remedy: 'Save it as CSV (UTF-8) and correct the line named in `line`.',
    extra: ['line'],
  },
  INVALID_FILE: {
    status: 400,
    message: 'The file cannot be read as an Excel workbook.',
    remedy:
      'Save it as .xlsx without a password, or as CSV (UTF-8). `line` is the row of the sheet, 1 for the whole file.',
    extra: ['line'],
  },
  MISSING_CANDIDATE: {
    status: 400,
    message: 'No column can be the VAT number.',
    remedy: 'Name the column `vat_number`.',
  },
  MISSING_SUPPLY_DATE: {
    status: 400,
    message: 'No column can be the supply date.',
    remedy: 'Name the column `supply_date`, and write dates as YYYY-MM-DD or day first.',
  },
  INVALID_REFERENCE: {
    status: 400,
    message: 'The reference is not 1 to 64 printable characters.',
    remedy: 'Shorten the reference or remove control characters.',
    lineOnly: true,
  },
  BATCH_RUNNING: {
    status: 409,
    retryable: true,
    message: 'The batch is still queued or running.',
    remedy: 'Wait for batch.completed, then delete it.',
  },
  FILE_TOO_LARGE: { status: 413, message: 'The file is over 2 MiB.', remedy: 'Split the file.' },
  TOO_MANY_BATCHES: {
    status: 429,
    retryable: true,
    message: '5 batches are already queued or running.',
    remedy: 'Wait for one of them to complete.',
    extra: ['active'],
  },
  BATCH_LINE_LIMIT: {
    status: 429,
    retryable: true,
    message: `The account may upload ${grouped(MAX_UPLOADED_LINES)} lines in 24 hours.`,
    remedy: 'Upload the file after `reset_at`.',
    extra: ['reset_at'],
  },
  TOO_MANY_DOWNLOADS: {
    status: 429,
    retryable: true,
    message: `The account already has ${MAX_DOWNLOADS} downloads of results.`,
    remedy: 'Wait `retry_after` seconds, or until one of the downloads has ended.',
    extra: ['retry_after'],
  },
  EXPORT_TOO_LARGE: {
    status: 400,
    message: 'The export would hold more than 10 000 checks.',
    remedy: 'Narrow `from` and `to`.',
  },
  EXPORT_IN_PROGRESS: {
    status: 409,
    retryable: true,
    message: 'An export of this account is already running.',
    remedy: 'Wait for it to end.',
  },
  INVALID_FORMAT: {
    status: 400,
    message: 'The VAT number cannot be normalised.',
    remedy: 'Send a number in the form of its country.',
  },
  WATCH_LIMIT: {
    status: 403,
    message: "The plan's watch limit is reached.",
    remedy: 'Remove a watch or move to a larger plan.',
    extra: ['limit'],
  },
  FREQUENCY_NOT_ALLOWED: {
    status: 403,
    message: 'The plan does not include this frequency.',
    remedy: 'Choose another frequency or a larger plan.',
  },
  WATCH_EXISTS: {
    status: 409,
    message: 'The account already watches this number.',
    remedy: 'Change the existing watch instead.',
  },
  NO_WEBHOOK: {
    status: 400,
    message: 'No webhook is configured.',
    remedy: 'Save an endpoint URL in the settings of the dashboard.',
  },
  TOO_MANY_DELIVERIES: {
    status: 429,
    retryable: true,
    message: `${grouped(MAX_ON_DEMAND_DELIVERIES)} deliveries of test events and resends are already pending.`,
    remedy: 'Wait `retry_after` seconds for some of them to end; find out why the endpoint does not answer 2xx.',
    extra: ['retry_after', 'pending'],
  },
  RESEND_TOO_LARGE: {
    status: 400,
    message: `More than ${grouped(MAX_RESENT_DELIVERIES)} deliveries match.`,
    remedy: 'Narrow `from` and `to`, or choose a `status` or an `event`, and resend the deliveries in several calls.',
    extra: ['matched'],
  },
  INVALID_REQUESTER: {
    status: 400,
    message: 'requester_vat_number is not a valid VAT number.',
    remedy: 'Send your own, valid EU VAT number or leave the field out.',
    extra: ['checks'],
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    message: 'This Idempotency-Key was used with a different request.',
    remedy: 'Use a new key for a new request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    retryable: true,
    message: 'The first request with this Idempotency-Key is still running.',
    remedy: 'Wait `retry_after` seconds, then send the same call again.',
    extra: ['retry_after'],
  },
  TEST_KEY_NOT_ALLOWED: {
    status: 403,
    message: 'A test key cannot be used here.',
    remedy: 'Use a live key.',
  },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    retryable: true,
    message: 'Reserved: an upstream outage is answered with 202.',
    remedy: 'None: no code path emits it.',
  },
  INTERNAL: {
    status: 500,
    retryable: true,
    message: 'Something failed on our side.',
    remedy: 'Try again; quote the X-Request-Id if it persists.',
  },
  INVALID_WEBHOOK_URL: {
    status: 400,
    message: 'The endpoint URL is refused.',
    remedy: 'Use an https URL whose name resolves to public addresses only.',
  },
  FORBIDDEN: {
    status: 403,
    message: 'The CSRF token is missing or wrong, or your role does not allow this.',
    remedy: 'Reload the page. An owner of the account can change your role.',
  },
  TOO_MANY_SIGN_INS: {
    status: 429,
    retryable: true,
    message: 'Too many wrong passwords for this address.',
    remedy: 'Wait `retry_after` seconds.',
    extra: ['retry_after'],
  },
  TOO_MANY_SIGN_UPS: {
    status: 429,
    retryable: true,
    message: 'Too many accounts were opened recently, from this network or in total.',
    remedy: 'Wait `retry_after` seconds.',
    extra: ['retry_after'],
  },
  EMAIL_TAKEN: {
    status: 409,
    message: 'There is an account with this e-mail address.',
    remedy: 'Use another address, or sign in with this one.',
  },
  TOO_MANY_STREAMS: {
    status: 429,
    retryable: true,
    message: 'Too many pages receive live updates at once.',
    remedy: 'Close some of them; a page without live updates reads its data at intervals.',
    extra: ['retry_after'],
  },
  KEY_LIMIT: {
    status: 403,
    message: 'The account has 200 API keys already.',
    remedy: 'Revoke a key that is no longer used.',
    extra: ['limit'],
  },
  MEMBER_LIMIT: {
    status: 403,
    message: 'The account has 100 members or 100 pending invitations already.',
    remedy: 'Remove a member or revoke an invitation that is no longer needed.',
    extra: ['limit'],
  },
  LAST_OWNER: {
    status: 409,
    message: 'This is the only owner of the account.',
    remedy: 'Make another member an owner first.',
  },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One field that a caller must correct. `path` is dotted, `''` for the body as a whole. */
export type FieldError = { path: string; message: string };

/** An error with a code of the catalogue. Any other error becomes 500 INTERNAL and leaks nothing. */
export class AppError extends Error {
  override name = 'AppError';
  readonly code: ErrorCode;
  /** The fields beside `code` and `message` in the response. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, options: { message?: string; extra?: Record<string, unknown>; cause?: unknown } = {}) {
    super(options.message ?? ERROR_CATALOGUE[code].message, { cause: options.cause });
    this.code = code;
    this.extra = options.extra ?? {};
  }

  get spec(): ErrorSpec {
    return ERROR_CATALOGUE[this.code];
  }
}

/** A BAD_REQUEST about one part of a call. `path`: the name of a field, parameter or header. `message`: without a full stop. */
export const badRequest = (path: string, message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path, message }] }, cause });
