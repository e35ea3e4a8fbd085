import { type LookupNoAnswer, type LookupRejected, MISSING_FIELD_CODE } from '@vat/domain';

/** An outcome without a usable answer. `detail` is one sentence for a person. */
export const noAnswer = (
  outcome: 'unavailable' | 'timeout',
  detail: string | null,
  code: string | null = null,
): LookupNoAnswer => ({ kind: 'no_answer', outcome, code, scope: null, detail });

type KnownCode =
  | (Pick<LookupNoAnswer, 'outcome' | 'scope'> & { as?: 'MS_MAX_CONCURRENT_REQ' | 'GLOBAL_MAX_CONCURRENT_REQ' })
  | { rejects: LookupRejected['code'] };

// `as` maps the …_TIME variants to their base code: a saturated entry carries one of two codes.
const KNOWN_CODES = new Map<string, KnownCode>([
  ['MS_MAX_CONCURRENT_REQ', { outcome: 'saturated', scope: 'member_state' }],
  ['MS_MAX_CONCURRENT_REQ_TIME', { outcome: 'saturated', scope: 'member_state', as: 'MS_MAX_CONCURRENT_REQ' }],
  ['GLOBAL_MAX_CONCURRENT_REQ', { outcome: 'saturated', scope: 'global' }],
  ['GLOBAL_MAX_CONCURRENT_REQ_TIME', { outcome: 'saturated', scope: 'global', as: 'GLOBAL_MAX_CONCURRENT_REQ' }],
  ['SERVER_BUSY', { outcome: 'unavailable', scope: null }],
  ['SERVICE_UNAVAILABLE', { outcome: 'unavailable', scope: null }],
  ['MS_UNAVAILABLE', { outcome: 'unavailable', scope: null }],
  ['TIMEOUT', { outcome: 'timeout', scope: null }],
  ['VAT_BLOCKED', { outcome: 'blocked', scope: null }],
  ['IP_BLOCKED', { outcome: 'blocked', scope: null }],
  ['INVALID_INPUT', { rejects: 'INVALID_INPUT' }],
  ['INVALID_REQUESTER_INFO', { rejects: 'INVALID_REQUESTER_INFO' }],
  // VIES checks these against its own patterns: the number, the requester's member state, the requester's number.
  ['VOW-ERR-2600', { rejects: 'INVALID_INPUT' }],
  ['VOW-ERR-2500', { rejects: 'INVALID_REQUESTER_INFO' }],
  ['VOW-ERR-2700', { rejects: 'INVALID_REQUESTER_INFO' }],
  [MISSING_FIELD_CODE, { outcome: 'unavailable', scope: null }],
]);
/** Codes of VIES's web layer. One that is not listed above counts as no answer; VOW-ERR-1 is a server error. */
const WEB_LAYER_CODE = /^VOW-ERR-\d+$/;

type CodeKind = 'no_answer' | 'rejects_requester' | 'rejects_input' | 'web_layer' | 'unknown';

/**
 * Classifies a code by itself: no answer, a refusal of the requester or of a field, an error of VIES's web layer, or
 * unknown.
 */
const classifyCode = (code: string): CodeKind => {
  const known = KNOWN_CODES.get(code);
  if (known === undefined) return WEB_LAYER_CODE.test(code) ? 'web_layer' : 'unknown';
  if (!('rejects' in known)) return 'no_answer';
  return known.rejects === 'INVALID_INPUT' ? 'rejects_input' : 'rejects_requester';
};

/** The statuses with which VIES refuses a request: usually 200, and 400 for the codes of its web layer. */
const REFUSING_STATUSES: readonly number[] = [200, 400, 422];

type ErrorAnswer = {
  /** HTTP status of the answer with the error. */
  status: number;
  /** The upstream's code in upper case; null when it gave nothing that looks like a code. */
  code: string | null;
  /** True when the same answer also contains a boolean `valid`. */
  besideVerdict: boolean;
};

/**
 * Maps an error of the upstream to an outcome. A refusal ends a request, so it is accepted only when nothing contradicts
 * it: neither a `valid` in the same answer, nor a status that means that the request was not processed (401, 403, 429)
 * or that the server failed.
 */
export const classifyErrorCode = ({ status, code, besideVerdict }: ErrorAnswer): LookupNoAnswer | LookupRejected => {
  const detail = status === 200 ? null : `HTTP ${status}`;
  const known = code === null ? undefined : KNOWN_CODES.get(code);
  if (code === null || known === undefined)
    return noAnswer('unavailable', detail ?? 'an error without a known code', code);

  if ('rejects' in known) {
    const isConsistent = !besideVerdict && REFUSING_STATUSES.includes(status);
    if (isConsistent) {
      const upstreamCode = code === known.rejects ? {} : { upstreamCode: code };
      return { kind: 'rejected', code: known.rejects, ...upstreamCode };
    }
    return noAnswer('unavailable', detail ?? 'an error and a verdict in one answer', code);
  }

  // Saturation and blocks keep their meaning beside a verdict: they only delay the next lookup, and the entry shows the
  // code.
  if (besideVerdict && known.outcome === 'timeout') return noAnswer('unavailable', detail, code);
  return { kind: 'no_answer', outcome: known.outcome, code: known.as ?? code, scope: known.scope, detail };
};

const LOOKS_LIKE_A_CODE = /^[A-Z][A-Z0-9_-]{2,63}$/;
/** A code in front of its explanation, as in "VOW-ERR-1: An unexpected error occurred". */
const LEADING_CODE = /^([A-Z][A-Z0-9_-]{2,63})(?![A-Za-z0-9_-])/;
/** The values that VIES puts into `userError` when there was no error. */
const NO_ERROR_WORDS = new Set(['VALID', 'INVALID']);
/** A longer text is a page or a dump and is not searched for a code. */
const MAX_PLAIN_TEXT = 1_000;

/** The keys under which VIES and its gateways put codes, and those of texts that may begin with a code. */
const CODE_KEYS = ['error', 'code', 'errorCode'] as const;
const TEXT_KEYS = ['message', 'errorMessage', 'detail'] as const;

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The code at the start of a text, if it is a known one. */
const leadingCode = (text: string): string[] => {
  const code = LEADING_CODE.exec(text.trim())?.[1];
  return code !== undefined && classifyCode(code) !== 'unknown' ? [code] : [];
};

/** Real errors are a list of objects; deeper nesting is not searched, so that the recursion is bounded. */
const MAX_DEPTH = 4;

/** Codes in a value of an error field: any word that looks like a code, or a known code in front of an explanation. */
const codesOf = (value: unknown, depth = 0): string[] => {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => codesOf(item, depth + 1));
  if (isRecord(value)) {
    return [
      ...CODE_KEYS.flatMap((key) => codesOf(value[key], depth + 1)),
      ...TEXT_KEYS.flatMap((key) => (typeof value[key] === 'string' ? leadingCode(value[key]) : [])),
    ];
  }
  if (typeof value !== 'string') return [];
  const word = value.trim();
  return LOOKS_LIKE_A_CODE.test(word) ? [word] : leadingCode(word);
};

const ORDER: readonly CodeKind[] = ['no_answer', 'web_layer', 'unknown', 'rejects_requester', 'rejects_input'];

/**
 * Chooses the code of an answer that has several. A refusal counts only without any other code: a code for "no answer"
 * or an unknown one leaves open whether VIES processed the number.
 */
const chooseCode = (codes: readonly string[]): string | null =>
  ORDER.flatMap((kind) => codes.filter((code) => classifyCode(code) === kind))[0] ?? null;

/**
 * The error that an answer reports, or null when it reports none. Anything unexpected in an error field counts as an
 * error without a code, so that the answer gives no verdict.
 */
export const findError = (answer: Record<string, unknown>): { code: string | null } | null => {
  const { actionSucceed, errorWrappers, errors, userError, error, errorCode } = answer;
  const userErrs = isGiven(userError) && !(typeof userError === 'string' && NO_ERROR_WORDS.has(userError));
  const fields = [errorWrappers, errors, userErrs ? userError : null];
  // `code` and `message` are common field names: alone they are an error only when they contain a known code.
  const generic = codesOf(Object.fromEntries(['code', ...TEXT_KEYS].map((key) => [key, answer[key]])));
  const failed =
    (actionSucceed !== undefined && actionSucceed !== null && actionSucceed !== true) ||
    [...fields, error, errorCode].some(isGiven) ||
    generic.some((code) => classifyCode(code) !== 'unknown');
  if (!failed) return null;
  return { code: chooseCode([...fields, error, errorCode].flatMap((field) => codesOf(field)).concat(generic)) };
};

/** The code of an error that is plain text, a JSON string or a bare list; null when there is none. */
export const findCodeInText = (value: unknown): string | null =>
  typeof value === 'string' && value.length > MAX_PLAIN_TEXT ? null : chooseCode(codesOf(value));
