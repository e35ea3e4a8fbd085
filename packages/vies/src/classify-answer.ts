import {
  carriesTrader,
  type Exchange,
  type LookupOutcome,
  type LookupSubject,
  type SplitVatNumber,
  TRADER_FIELDS,
  type TraderMatch,
} from '@vat/domain';
import { readJson } from '@vat/outgoing';
import { classifyErrorCode, findCodeInText, findError, noAnswer } from './error-codes.js';
import { cleanText, TRADER_WIRE_NAMES } from './wire.js';

/** An HTTP answer as an exchange stores it. */
export type UpstreamAnswer = NonNullable<Exchange['response']>;

const country = (code: string): string => {
  const upper = code.trim().toUpperCase();
  return upper === 'GR' ? 'EL' : upper; // VIES's own name for Greece is EL, ISO's is GR
};

const bare = (national: string): string => national.toUpperCase().replace(/\s+/g, '').replace(/^0+/, '');

/** The value as text; null when VIES omitted, blanked or masked it, because there is then nothing to compare. */
const comparable = (value: unknown): string | null => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' && text.trim() !== '---' ? text : null;
};

/**
 * False when the answer names another number than the lookup (a proxy or cache returned the wrong answer). Case, blanks,
 * leading zeros and a repeated country prefix are ignored.
 */
const echoesLookup = (lookup: SplitVatNumber, answer: Record<string, unknown>): boolean => {
  const memberState = country(lookup.memberState);
  const echoedCountry = comparable(answer.countryCode);
  if (echoedCountry !== null && country(echoedCountry) !== memberState) return false;

  const echoedNumber = comparable(answer.vatNumber);
  if (echoedNumber === null) return true;
  const expected = bare(lookup.national);
  const echoed = bare(echoedNumber);
  return echoed === expected || (country(echoed.slice(0, 2)) === memberState && bare(echoed.slice(2)) === expected);
};

const NAME = { limit: 1_000, multiline: false };
const ADDRESS = { limit: 2_000, multiline: true };
const CONSULTATION_NUMBER = { limit: 100, multiline: false };

const describeUnreadable = (text: string, headers: Record<string, string>): string => {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return `an answer encoded as ${encoding}, which was not requested`;
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
 * Maps an HTTP answer of VIES to the outcome of a lookup. Pure. A verdict requires a complete HTTP 200 whose body is a
 * JSON object with a boolean `valid`, without any error, and not about another number. Every other answer is a refusal or
 * no answer, so that a verdict is never invented.
 */
export const classifyAnswer = (
  lookup: LookupSubject,
  { status, headers, body, complete }: UpstreamAnswer,
): LookupOutcome => {
  if (!complete) return noAnswer('unavailable', 'an answer cut short');

  const answer = readJson(body);
  if (answer === undefined || answer === null || typeof answer !== 'object' || Array.isArray(answer)) {
    const text = new TextDecoder().decode(body);
    const code = findCodeInText(answer ?? text);
    if (code !== null) return classifyErrorCode({ status, code, besideVerdict: false });
    const seen = answer === undefined ? describeUnreadable(text, headers) : 'JSON that is not an object';
    return noAnswer('unavailable', status === 200 ? seen : `HTTP ${status}`);
  }

  const fields: Record<string, unknown> = { ...answer };
  const { valid } = fields;
  const error = findError(fields);
  if (error) {
    // VIES's other interface names the field `isValid` and sets it to false beside every error.
    const besideVerdict = typeof valid === 'boolean' || typeof fields.isValid === 'boolean';
    return classifyErrorCode({ status, code: error.code, besideVerdict });
  }
  if (status !== 200) return noAnswer('unavailable', `HTTP ${status}`);
  if (typeof valid !== 'boolean') return noAnswer('unavailable', 'an answer without a boolean `valid`');

  const word = fields.userError;
  if (word === (valid ? 'INVALID' : 'VALID') || fields.isValid === !valid) {
    return noAnswer('unavailable', 'an answer that contradicts itself');
  }
  if (!echoesLookup(lookup, fields)) return noAnswer('unavailable', 'an answer about another number');

  return {
    kind: 'verdict',
    valid,
    name: cleanText(fields.name, NAME),
    address: cleanText(fields.address, ADDRESS),
    // A consultation number proves the lookup of a requester; without one it is meaningless.
    consultationNumber: lookup.requester === null ? null : cleanText(fields.requestIdentifier, CONSULTATION_NUMBER),
    traderMatch: carriesTrader(lookup) ? readTraderMatch(fields) : null,
  };
};
