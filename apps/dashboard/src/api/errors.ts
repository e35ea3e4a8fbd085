import { ERROR_CATALOGUE, type ErrorCode, type FieldError } from '@vat/domain/errors';

/** Fields of an error besides code and message. */
export type ErrorExtra = {
  fields?: FieldError[];
  retry_after?: number;
  reset_at?: string;
  limit?: number;
  line?: number;
};

/** An error response of the service. `code` is null when the response has no error envelope. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: ErrorCode | null,
    message: string,
    readonly extra: ErrorExtra = {},
    /** The X-Request-Id of the response, for support. */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/** Whether a retry may succeed soon: the network failed, the service failed, or the rate limit was reached. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'RATE_LIMITED';

/** The labels of API fields on the pages. Longer names come first. */
const LABELS: readonly (readonly [name: string, label: string])[] = [
  ['requester_vat_number', 'Requester'],
  ['vat_number', 'VAT number'],
  ['country_code', '“Country”'],
  ['current_password', 'Current password'],
  ['new_password', 'New password'],
  ['max_age_days', 'Maximum age in days'],
  ['trader.name', 'Trader name'],
  ['trader.street', 'Street'],
  ['trader.postal_code', 'Postal code'],
  ['trader.city', 'City'],
  ['trader.company_type', 'Company type'],
];

/** Rewrites a message for API clients with the labels of the pages. */
export const withPageLabels = (sentence: string): string => {
  const text = sentence
    .replace('send country_code', 'choose it under “Country”')
    .replace('leave out country_code', 'choose no country')
    .replace(/\bsend (?=(?:a|the) number\b)/, 'enter ');
  const named = LABELS.reduce((sentenceSoFar, [name, label]) => sentenceSoFar.replaceAll(name, label), text);
  return named.charAt(0).toUpperCase() + named.slice(1);
};

/** An error as shown to users. */
type Explanation = {
  /** What happened and why. */
  cause: string;
  /** What to do about it; empty when the cause is sufficient. */
  remedy: string;
  /** What to correct, by field; `cause` joins the same messages. */
  fields: { path: string; message: string }[];
  /** The request id, for server errors only. */
  requestId: string | null;
};

/** Remedies that replace those of the catalogue, which are written for API clients. */
const PAGE_REMEDIES: Partial<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Correct it and try again.',
  UNAUTHORIZED:
    'Check your e-mail and password for typos. To reset your password, contact the operator of the service.',
  NOT_FOUND: 'It may have been deleted. Go back to the list.',
  METHOD_NOT_ALLOWED: 'Reload the page to get its latest version.',
  QUOTA_EXCEEDED: 'Wait until next month or upgrade your plan.',
  TOO_MANY_SIGN_INS: 'Wait a few minutes and try again.',
  TOO_MANY_SIGN_UPS: 'Wait a few minutes and try again.',
  IDEMPOTENCY_IN_PROGRESS: 'Wait a moment and try again.',
  IDEMPOTENCY_MISMATCH: 'Choose the file again.',
  RATE_LIMITED: 'Wait a second and try again.',
  NO_WEBHOOK: 'Save an endpoint URL in Settings first.',
  INVALID_CSV: 'Correct the file and choose it again.',
  INVALID_FILE: 'Correct the file and choose it again.',
  MISSING_CANDIDATE: 'Name the column with the VAT numbers “vat_number”.',
  MISSING_SUPPLY_DATE: 'Then choose the file again.',
  INVALID_FORMAT: 'Enter the number in the format of its country.',
  INVALID_REQUESTER: 'Enter your own EU VAT number or leave the field empty.',
  TOO_MANY_DELIVERIES: 'Wait for some of them to finish, and find out why your endpoint does not respond with 2xx.',
  FORBIDDEN: 'Reload the page. An owner of the account can change your role.',
  TOO_MANY_PENDING: 'Wait for some of them to finish.',
  EXPORT_TOO_LARGE: 'Choose a shorter period.',
  RESEND_TOO_LARGE: 'Choose a shorter period or an event.',
  EXPORT_IN_PROGRESS: 'Wait for it to finish and try again.',
  BATCH_RUNNING: 'Wait until the batch is completed, then delete it.',
  BATCH_LINE_LIMIT: 'Upload the file tomorrow.',
  TOO_MANY_DOWNLOADS: 'Wait for a download to finish and try again.',
  INTERNAL: 'Try again. If the problem persists, send the request ID to the operator of the service.',
};

const retryText = (seconds: number): string =>
  seconds < 90 ? `Try again in ${Math.max(1, Math.ceil(seconds))} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;

const remedyOf = ({ code, extra, status }: ApiError): string => {
  if (extra.retry_after !== undefined) return retryText(extra.retry_after);
  if (code === 'BATCH_LINE_LIMIT' && extra.reset_at !== undefined) {
    const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' });
    return `Upload the file after ${format.format(new Date(extra.reset_at))}.`;
  }
  if (extra.reset_at !== undefined) {
    // Quotas are of months in UTC, as the overview says it.
    const at = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' }).format(
      new Date(extra.reset_at),
    );
    return `Your quota resets on ${at}. A larger plan includes more checks.`;
  }
  if (code === null) return status >= 500 ? 'Try again in a moment.' : '';
  return PAGE_REMEDIES[code] ?? ERROR_CATALOGUE[code].remedy;
};

const causeOf = ({ code, message }: ApiError): string => {
  // The country field of the form belongs to the VAT number, not to the requester.
  if (code === 'INVALID_REQUESTER') return withPageLabels(message.replace(' or send country_code', ''));
  return code === 'INVALID_FORMAT' ? withPageLabels(message) : message;
};

/** Where in a file the error is, unless the sentence says so. The first line stands for the file as a whole. */
const placeOf = ({ code, extra: { line } }: ApiError, sentence: string): string => {
  if (line === undefined || line <= 1 || new RegExp(`\\b(?:line|row) ${line}\\b`, 'i').test(sentence)) return '';
  return ` (${code === 'INVALID_FILE' ? 'row' : 'line'} ${line})`;
};

/** What an error means on one page. */
export type ErrorContext = {
  /** What the page calls the field `name` of the call. */
  nameLabel?: string;
  /** What to do about NOT_FOUND; by default the object may have been deleted. */
  notFoundRemedy?: string;
};

/** Cause and remedy of an error that a call threw. */
export const explainError = (
  error: unknown,
  { nameLabel = 'Name', notFoundRemedy }: ErrorContext = {},
): Explanation => {
  if (!(error instanceof ApiError)) {
    // fetch throws a TypeError when the request fails. Other errors have a message for users.
    const isUnreachable = error instanceof TypeError || !(error instanceof Error);
    return {
      cause: isUnreachable ? 'The service cannot be reached.' : error.message,
      remedy: isUnreachable ? 'Check your connection and try again.' : '',
      fields: [],
      requestId: null,
    };
  }
  const fields = (error.extra.fields ?? []).map(({ path, message }) => ({
    path,
    message: withPageLabels(path === 'name' ? message.replace(/^name\b/, nameLabel) : message),
  }));
  const sentence = fields.length > 0 ? fields.map(({ message }) => message).join('. ') : causeOf(error);
  return {
    cause: `${sentence.replace(/\.$/, '')}${placeOf(error, sentence)}.`,
    remedy: (error.code === 'NOT_FOUND' && notFoundRemedy) || remedyOf(error),
    fields,
    requestId: error.status >= 500 ? error.requestId : null,
  };
};

/** The error of a response of something else, such as the sign-in page of a proxy. */
export const notFromService = (): Error =>
  new Error('The response is not from the service. A proxy or a sign-in page of your network may be in between.');

/** Parses a JSON response. Throws {@link notFromService} when it is none. */
export const parseJson = async <T>(response: Response): Promise<T> => {
  const text = await response.text();
  try {
    return (text === '' ? null : JSON.parse(text)) as T;
  } catch {
    throw notFromService();
  }
};

/** Whether a query failed because the object does not exist. Ids are never reused, so a retry is pointless. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code);

/** Converts an error response to an {@link ApiError}. The body may be anything, such as an HTML page of a proxy. */
export const readError = async (response: Response): Promise<ApiError> => {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: unknown } | null)?.error;
  const { code, message, ...extra } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  return new ApiError(
    response.status,
    isCode(code) ? code : null,
    typeof message === 'string' ? message : `The service responded with status ${response.status} and no details.`,
    extra,
    response.headers.get('x-request-id'),
  );
};
