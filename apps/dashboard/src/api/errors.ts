import { ERROR_CATALOGUE, type ErrorCode, type FieldError } from '@vat/domain/errors';

/** What the service says besides code and message. */
export type ErrorExtra = {
  fields?: FieldError[];
  retry_after?: number;
  reset_at?: string;
  limit?: number;
  line?: number;
};

/** A refusal of the service: its envelope, as a thing to throw. `code` is null when the answer was no envelope at all. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: ErrorCode | null,
    message: string,
    readonly extra: ErrorExtra = {},
    /** The answer's X-Request-Id, by which the operator finds it. */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/** Whether the same call may succeed a little later: nothing answered, the service failed, or too many calls came at once. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'RATE_LIMITED';

/** What fields are called on the pages, by their names in the API; the longer names first. */
const LABELS: readonly (readonly [name: string, label: string])[] = [
  ['requester_vat_number', 'Requester'],
  ['vat_number', 'VAT number'],
  ['country_code', '“Country”'],
  ['current_password', 'Current password'],
  ['new_password', 'New password'],
  ['trader.name', 'Trader name'],
  ['trader.street', 'Street'],
  ['trader.postal_code', 'Postal code'],
  ['trader.city', 'City'],
  ['trader.company_type', 'Company type'],
];

/** A sentence that the service says to callers of the API, in the words of the pages. */
const inPageWords = (sentence: string): string => {
  const text = sentence
    .replace('send country_code', 'choose it under “Country”')
    .replace('leave out country_code', 'choose no country')
    .replace(/\bsend (?=(?:a|the) number\b)/, 'enter ');
  const named = LABELS.reduce((words, [name, label]) => words.replaceAll(name, label), text);
  return named.charAt(0).toUpperCase() + named.slice(1);
};

/** An error in words for the person at the screen. */
type Explanation = {
  /** What happened and why. */
  cause: string;
  /** What to do about it; empty when the cause says it all. */
  remedy: string;
  /** What to correct, field by field; `cause` says the same in one. */
  fields: { path: string; message: string }[];
  /** What the operator finds it by; only where that helps. */
  requestId: string | null;
};

// The catalogue speaks to callers of the API; where that differs for a person before a page, this is what to do.
const HERE: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Correct what is named here and try again.',
  UNAUTHORIZED: 'Check both for typing errors. The operator of the service can set a new password.',
  NOT_FOUND: 'It may have been removed. Go back to the list.',
  METHOD_NOT_ALLOWED: 'Reload the page: it may be older than the service.',
  QUOTA_EXCEEDED: 'Wait for the next month or move to a larger plan.',
  TOO_MANY_SIGN_INS: 'Wait a while and try again.',
  TOO_MANY_SIGN_UPS: 'Wait a while and try again.',
  IDEMPOTENCY_IN_PROGRESS: 'Wait a moment and try again.',
  IDEMPOTENCY_MISMATCH: 'Choose the file again.',
  RATE_LIMITED: 'Wait a second and try again.',
  NO_WEBHOOK: 'Save an endpoint URL under Settings first.',
  INVALID_CSV: 'Save the file as CSV (UTF-8) and try again.',
  MISSING_CANDIDATE: 'Name the column with the numbers “vat_number”.',
  INVALID_REQUESTER: 'Enter your own, valid EU VAT number or leave the field empty.',
  FORBIDDEN: 'Reload the page and try again.',
  TOO_MANY_PENDING: 'Wait for some of them to finish.',
  EXPORT_TOO_LARGE: 'Choose a shorter period.',
  BATCH_RUNNING: 'Wait until it is completed, then delete it.',
  BATCH_LINE_LIMIT: 'Upload the file tomorrow.',
  TOO_MANY_DOWNLOADS: 'Wait for one of them to end and try again.',
  INTERNAL: 'Try again. If it goes on, give the operator the number of this call.',
};

const wait = (seconds: number): string =>
  seconds < 90
    ? `Wait ${Math.max(1, Math.ceil(seconds))} s and try again.`
    : `Try again in ${Math.ceil(seconds / 60)} min.`;

const remedyOf = ({ code, extra, status }: ApiError): string => {
  if (extra.retry_after !== undefined) return wait(extra.retry_after);
  if (code === 'BATCH_LINE_LIMIT' && extra.reset_at !== undefined) {
    const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' });
    return `Upload the file after ${format.format(new Date(extra.reset_at))}.`;
  }
  if (extra.reset_at !== undefined) {
    const at = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }).format(new Date(extra.reset_at));
    return `The next month's checks are there on ${at}; a larger plan has more.`;
  }
  if (code === null) return status >= 500 ? 'Try again in a moment.' : '';
  return HERE[code] ?? ERROR_CATALOGUE[code].remedy;
};

const causeOf = ({ code, message }: ApiError): string => {
  // The country on the page is that of the number which is asked about.
  if (code === 'INVALID_REQUESTER') return inPageWords(message.replace(' or send country_code', ''));
  return code === 'INVALID_FORMAT' ? inPageWords(message) : message;
};

/** Cause and remedy of whatever a call has thrown, from the catalogue of the service. */
export const explainError = (error: unknown): Explanation => {
  if (!(error instanceof ApiError)) {
    // fetch throws a TypeError when nothing answered; whatever else is thrown says itself what it is.
    const isAway = error instanceof TypeError || !(error instanceof Error);
    return {
      cause: isAway ? 'The service cannot be reached.' : error.message,
      remedy: isAway ? 'Check the connection. What is shown here comes back by itself.' : '',
      fields: [],
      requestId: null,
    };
  }
  const fields = (error.extra.fields ?? []).map(({ path, message }) => ({ path, message: inPageWords(message) }));
  const line = error.extra.line === undefined ? '' : ` (line ${error.extra.line})`;
  const sentence = fields.length > 0 ? fields.map(({ message }) => message).join('. ') : causeOf(error);
  return {
    cause: `${sentence.replace(/\.$/, '')}${line}.`,
    remedy: remedyOf(error),
    fields,
    requestId: error.status >= 500 ? error.requestId : null,
  };
};

/** Whether a reading failed because there is no such thing. Ids are never given anew: it need not be asked for again. */
export const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code);

/** Makes an {@link ApiError} of an answer that is no success, whatever its body; a proxy's page of HTML too. */
export const readRefusal = async (response: Response): Promise<ApiError> => {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: unknown } | null)?.error;
  const { code, message, ...extra } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  return new ApiError(
    response.status,
    isCode(code) ? code : null,
    typeof message === 'string' ? message : `The service answered ${response.status} without saying why.`,
    extra,
    response.headers.get('x-request-id'),
  );
};
