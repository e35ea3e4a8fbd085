import { type CodeKind, classifyCode } from './classify-error-code.js';

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
