import { type Ask, type AskOutcome, type Exchange, TRADER_FIELDS, type TraderMatch } from '@vat/domain';
import { classifyErrorCode } from './classify-error-code.js';
import { cleanText } from './clean-text.js';
import { echoesAsk } from './echoes-ask.js';
import { TRADER_WIRE_NAMES } from './encode-ask.js';
import { findCodeInText, findError } from './find-error.js';
import { noAnswer } from './no-answer.js';

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
export const classifyAnswer = (ask: Ask, { status, headers, body, complete }: UpstreamAnswer): AskOutcome => {
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
  if (!echoesAsk(ask, fields)) return noAnswer('unavailable', 'an answer about another number');

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
