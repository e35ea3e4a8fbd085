import { editDistance } from './align-words.js';
import { isUnstated, latinize } from './fold-text.js';

/** Prefixes of postal codes in international mail, such as `D-10115`. Those of Ireland, Malta and the United Kingdom are part of the code. */
const COUNTRY =
  /^(?:a|at|b|be|bg|cy|cz|d|de|dk|ee|e|es|f|fr|fi|fin|gr|el|h|hu|hr|i|it|l|lu|lt|lv|n|nl|p|pl|pt|ro|s|se|si|slo|sk)[\s-]*(?=\d)/;

/** Letters and digits of a postal code without the prefix of its country. */
const normalizePostalCode = (text: string): string =>
  latinize(text.slice(0, 40))
    .trim()
    .replace(COUNTRY, '')
    .replace(/[^\p{L}\p{N}]/gu, '');

/** Spreadsheets remove leading zeros. */
const LEADING_ZERO = 95;
/** One code is the beginning of the other: `1017` and `1017 CE`, `BT12` and `BT12 6TA`, `1250` and `1250-097`. */
const AREA = 85;
const TYPING_ERROR = 60;

/**
 * How well two postal codes agree, 0 to 100; the order does not matter. Spaces, hyphens and the prefix of the country do not
 * matter. One wrong digit is 60, another code is at most 50. 0 where one states nothing. Never throws.
 */
export const scorePostalCode = (expected: string, found: string): number => {
  if (isUnstated(expected) || isUnstated(found)) return 0;
  const [one, other] = [normalizePostalCode(expected), normalizePostalCode(found)].sort() as [string, string];
  if (one === '' || other === '') return expected.trim() === found.trim() ? 100 : 0;
  if (one === other) return 100;
  if (/^\d+$/.test(one) && one.replace(/^0+/, '') === other.replace(/^0+/, '')) return LEADING_ZERO;
  if (one.length >= 3 && other.startsWith(one)) return AREA;
  if (one.length === other.length && editDistance(one, other) === 1) return TYPING_ERROR;
  const shared = [...one].findIndex((letter, at) => letter !== other[at]);
  return Math.round((50 * Math.max(0, shared)) / Math.max(one.length, other.length));
};
