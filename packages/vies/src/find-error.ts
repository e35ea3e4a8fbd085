import { isKnownErrorCode } from './classify-error-code.js';

const LOOKS_LIKE_A_CODE = /^[A-Z][A-Z0-9_-]{2,63}$/;
/** The words VIES puts into `userError` when there was no error. */
const NO_ERROR_WORDS = new Set(['VALID', 'INVALID']);

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Every text in which VIES and what stands before it have been seen to put a code. */
const wordsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  return isRecord(value) ? [value.error, value.code, value.message] : [value];
};

/**
 * The error an answer admits to, or null when it admits to none. Anything unexpected in an error field counts as an
 * error without a code, so that no verdict is read beside it.
 */
export const findError = (answer: Record<string, unknown>): { code: string | null } | null => {
  const { actionSucceed, errorWrappers, userError, error } = answer;
  const userErrs = isGiven(userError) && !(typeof userError === 'string' && NO_ERROR_WORDS.has(userError));
  const failed =
    (actionSucceed !== undefined && actionSucceed !== null && actionSucceed !== true) ||
    isGiven(errorWrappers) ||
    userErrs ||
    isGiven(error);
  if (!failed) return null;

  const codes = [errorWrappers, userErrs ? userError : null, error, answer.message]
    .flatMap(wordsOf)
    .filter((word): word is string => typeof word === 'string')
    .map((word) => word.trim())
    .filter((word) => LOOKS_LIKE_A_CODE.test(word));
  return { code: codes.find(isKnownErrorCode) ?? codes[0] ?? null };
};
