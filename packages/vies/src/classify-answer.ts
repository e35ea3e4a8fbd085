import {
  type Ask,
  type Exchange,
  type LookupNoAnswer,
  type LookupOutcome,
  type LookupRejected,
  MISSING_FIELD_CODE,
  type SplitVatNumber,
  TRADER_FIELDS,
  type TraderMatch,
} from '@vat/domain';
import { cleanText, TRADER_WIRE_NAMES } from './wire.js';

/** The upstream said nothing that can be used. `detail` is one sentence for a person. */
export const noAnswer = (
  outcome: 'unavailable' | 'timeout',
  detail: string | null,
  code: string | null = null,
): LookupNoAnswer => ({ kind: 'no_answer', outcome, code, scope: null, detail });

type KnownCode =
  | (Pick<LookupNoAnswer, 'outcome' | 'scope'> & { as?: 'MS_MAX_CONCURRENT_REQ' | 'GLOBAL_MAX_CONCURRENT_REQ' })
  | { rejects: LookupRejected['code'] };

// `as` folds the …_TIME variants: a saturated entry carries one of two codes (contract part 2 §4).
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
  // The number, the requester's member state and the requester's number against VIES's own patterns.
  ['VOW-ERR-2600', { rejects: 'INVALID_INPUT' }],
  ['VOW-ERR-2500', { rejects: 'INVALID_REQUESTER_INFO' }],
  ['VOW-ERR-2700', { rejects: 'INVALID_REQUESTER_INFO' }],
  [MISSING_FIELD_CODE, { outcome: 'unavailable', scope: null }],
]);
/** Codes of VIES's web layer. One that is not listed above is no answer; VOW-ERR-1 is a fault of the server. */
const WEB_LAYER_CODE = /^VOW-ERR-\d+$/;

export type CodeKind = 'no_answer' | 'rejects_requester' | 'rejects_input' | 'web_layer' | 'unknown';

/** What a code by itself says: no answer, a refusal of the requester or of some field, a fault of VIES's web layer, or nothing that is known. */
export const classifyCode = (code: string): CodeKind => {
  const known = KNOWN_CODES.get(code);
  if (known === undefined) return WEB_LAYER_CODE.test(code) ? 'web_layer' : 'unknown';
  if (!('rejects' in known)) return 'no_answer';
  return known.rejects === 'INVALID_INPUT' ? 'rejects_input' : 'rejects_requester';
};

/** The statuses under which VIES refuses a request: mostly 200, 400 for the codes of its web layer. */
const REFUSING_STATUSES: readonly number[] = [200, 400, 422];

type ErrorAnswer = {
  /** HTTP status the error came with. */
  status: number;
  /** The upstream's word, upper case, or null where it gave none that looks like a code. */
  code: string | null;
  /** True when the same answer also carried a boolean `valid`. */
  besideVerdict: boolean;
};

/**
 * What an error of the upstream means. A refusal ends a request, so it is believed only when nothing contradicts it:
 * neither a `valid` beside it nor a status that says that the request was not looked at (401, 403, 429) or that the
 * server itself was in trouble. Source: contract part 2 §4, part 3 §1.
 */
export const classifyErrorCode = ({ status, code, besideVerdict }: ErrorAnswer): LookupNoAnswer | LookupRejected => {
  const detail = status === 200 ? null : `HTTP ${status}`;
  const known = code === null ? undefined : KNOWN_CODES.get(code);
  if (code === null || known === undefined)
    return noAnswer('unavailable', detail ?? 'an error without a known code', code);

  if ('rejects' in known) {
    const believed = !besideVerdict && REFUSING_STATUSES.includes(status);
    if (believed) {
      const upstreamCode = code === known.rejects ? {} : { upstreamCode: code };
      return { kind: 'rejected', code: known.rejects, ...upstreamCode };
    }
    return noAnswer('unavailable', detail ?? 'an error and a verdict in one answer', code);
  }

  // Saturation and blocks keep their meaning beside a verdict: they only pace the next ask, and part 1 §7 wants the code seen.
  if (besideVerdict && known.outcome === 'timeout') return noAnswer('unavailable', detail, code);
  return { kind: 'no_answer', outcome: known.outcome, code: known.as ?? code, scope: known.scope, detail };
};

const country = (code: string): string => {
  const upper = code.trim().toUpperCase();
  return upper === 'GR' ? 'EL' : upper; // VIES's own name for Greece is EL, ISO's is GR
};

const bare = (national: string): string => national.toUpperCase().replace(/\s+/g, '').replace(/^0+/, '');

/** What can be compared: a number VIES left out, blanked or masked says nothing about which number was judged. */
const comparable = (value: unknown): string | null => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' && text.trim() !== '---' ? text : null;
};

/**
 * False when the answer names another number than the one asked for (a mixed-up answer of a proxy or cache). Case,
 * blanks, leading zeros and a repeated country prefix do not count.
 */
export const echoesLookup = (ask: SplitVatNumber, answer: Record<string, unknown>): boolean => {
  const echoedCountry = comparable(answer.countryCode);
  if (echoedCountry !== null && country(echoedCountry) !== country(ask.memberState)) return false;

  const echoed = comparable(answer.vatNumber);
  if (echoed === null) return true;
  const asked = bare(ask.national);
  const heard = bare(echoed);
  return heard === asked || (country(heard.slice(0, 2)) === country(ask.memberState) && bare(heard.slice(2)) === asked);
};

const LOOKS_LIKE_A_CODE = /^[A-Z][A-Z0-9_-]{2,63}$/;
/** A code before its explanation, as in "VOW-ERR-1: An unexpected error occurred". */
const LEADING_CODE = /^([A-Z][A-Z0-9_-]{2,63})(?![A-Za-z0-9_-])/;
/** The words VIES puts into `userError` when there was no error. */
const NO_ERROR_WORDS = new Set(['VALID', 'INVALID']);
/** A longer text is a page or a dump, and what it begins with is no code. */
const LONGEST_PLAIN_TEXT = 1_000;

/** Where VIES, and what stands in front of it, put codes; and where they put text that may begin with one. */
const CODE_KEYS = ['error', 'code', 'errorCode'] as const;
const TEXT_KEYS = ['message', 'errorMessage', 'detail'] as const;

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** The code a text begins with, when it is one that this service knows. */
const leadingCode = (text: string): string[] => {
  const code = LEADING_CODE.exec(text.trim())?.[1];
  return code !== undefined && classifyCode(code) !== 'unknown' ? [code] : [];
};

/** Real errors are a list of objects; what is nested deeper is not searched, however deep somebody nests it. */
const DEEPEST = 4;

/** Codes in a value of an error field: any word that looks like one, or the known one that an explanation begins with. */
const codesOf = (value: unknown, depth = 0): string[] => {
  if (depth > DEEPEST) return [];
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
 * The code that an answer with several is taken for. A refusal counts only where no other code stands beside it: one
 * that says "no answer", or that nobody knows, leaves open whether the number was looked at.
 */
const chooseCode = (codes: readonly string[]): string | null =>
  ORDER.flatMap((kind) => codes.filter((code) => classifyCode(code) === kind))[0] ?? null;

/**
 * The error an answer admits to, or null when it admits to none. Anything unexpected in an error field counts as an
 * error without a code, so that no verdict is read beside it.
 */
export const findError = (answer: Record<string, unknown>): { code: string | null } | null => {
  const { actionSucceed, errorWrappers, errors, userError, error, errorCode } = answer;
  const userErrs = isGiven(userError) && !(typeof userError === 'string' && NO_ERROR_WORDS.has(userError));
  const fields = [errorWrappers, errors, userErrs ? userError : null];
  // `code` and `message` may be anybody's words: alone they make an error only when they hold a known code.
  const told = codesOf(Object.fromEntries(['code', ...TEXT_KEYS].map((key) => [key, answer[key]])));
  const failed =
    (actionSucceed !== undefined && actionSucceed !== null && actionSucceed !== true) ||
    [...fields, error, errorCode].some(isGiven) ||
    told.some((code) => classifyCode(code) !== 'unknown');
  if (!failed) return null;
  return { code: chooseCode([...fields, error, errorCode].flatMap((field) => codesOf(field)).concat(told)) };
};

/** The code of an error that came as plain text, a JSON string or a bare list; null where there is none. */
export const findCodeInText = (value: unknown): string | null =>
  typeof value === 'string' && value.length > LONGEST_PLAIN_TEXT ? null : chooseCode(codesOf(value));

/** An HTTP answer as it is kept in an exchange. */
export type UpstreamAnswer = NonNullable<Exchange['response']>;

const NAME = { limit: 1_000, multiline: false };
const ADDRESS = { limit: 2_000, multiline: true };
const CONSULTATION_NUMBER = { limit: 100, multiline: false };

// Not fatal on bad UTF-8: a verdict is no less clear for a name in a wrong encoding. Drops a byte order mark.
const utf8 = new TextDecoder();

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const describeUnreadable = (text: string, headers: Record<string, string>): string => {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return `an answer encoded as ${encoding}, which was not asked for`;
  if (text.trim() === '') return 'an empty answer';
  return text.trimStart().startsWith('<') ? 'HTML instead of JSON' : 'an answer that is not JSON';
};

const readMatchWord = (word: unknown): TraderMatch[keyof TraderMatch] => {
  if (word === 'VALID') return 'valid';
  if (word === 'INVALID') return 'invalid';
  return word === 'NOT_PROCESSED' ? 'not_processed' : null;
};

const readTraderMatch = (answer: Record<string, unknown>): TraderMatch => {
  const match: TraderMatch = { name: null, street: null, postal_code: null, city: null, company_type: null };
  for (const field of TRADER_FIELDS) match[field] = readMatchWord(answer[`${TRADER_WIRE_NAMES[field]}Match`]);
  return match;
};

/**
 * What an HTTP answer of VIES says about the number asked for. Pure. A verdict comes only from a complete HTTP 200
 * whose body is a JSON object with a boolean `valid`, no sign of an error, and no other number's echo; whatever else
 * arrives is no answer, so that nothing is ever invented. Source: contract part 1 §1 and §7, part 2 §4.
 */
export const classifyAnswer = (ask: Ask, { status, headers, body, complete }: UpstreamAnswer): LookupOutcome => {
  if (!complete) return noAnswer('unavailable', 'an answer cut short');

  const text = utf8.decode(body);
  const answer = parseJson(text);
  if (answer === undefined || answer === null || typeof answer !== 'object' || Array.isArray(answer)) {
    const code = findCodeInText(answer ?? text);
    if (code !== null) return classifyErrorCode({ status, code, besideVerdict: false });
    const seen = answer === undefined ? describeUnreadable(text, headers) : 'JSON that is not an object';
    return noAnswer('unavailable', status === 200 ? seen : `HTTP ${status}`);
  }

  const fields: Record<string, unknown> = { ...answer };
  const { valid } = fields;
  const error = findError(fields);
  if (error) {
    // `isValid` is what VIES's other interface calls it; false stands there beside every error.
    const besideVerdict = typeof valid === 'boolean' || typeof fields.isValid === 'boolean';
    return classifyErrorCode({ status, code: error.code, besideVerdict });
  }
  if (status !== 200) return noAnswer('unavailable', `HTTP ${status}`);
  if (typeof valid !== 'boolean') return noAnswer('unavailable', 'an answer without a boolean `valid`');

  const word = fields.userError;
  if ((word === 'VALID' && !valid) || (word === 'INVALID' && valid)) {
    return noAnswer('unavailable', 'an answer that contradicts itself');
  }
  if (!echoesLookup(ask, fields)) return noAnswer('unavailable', 'an answer about another number');

  const traderAsked = TRADER_FIELDS.some((field) => ask.trader?.[field]);
  return {
    kind: 'verdict',
    valid,
    name: cleanText(fields.name, NAME),
    address: cleanText(fields.address, ADDRESS),
    // Without a requester there is nobody whom it could prove the enquiry of.
    consultationNumber: ask.requester === null ? null : cleanText(fields.requestIdentifier, CONSULTATION_NUMBER),
    traderMatch: traderAsked ? readTraderMatch(fields) : null,
  };
};
