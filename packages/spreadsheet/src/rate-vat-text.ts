import { cleanVatText, fitNational, resolveCountry } from '@vat/domain/vat-syntax';
import { repairCell } from './repair-cell.js';

/** Longest text that is looked at; a number with separators between all its characters is shorter. */
const LONGEST = 40;

/** Numbers of countries that VIES has no part in: their lines are refused one by one, but this is their column. */
const NOT_COVERED = /^(?:(?:GB|UK|NO|CHE)\d{9}(?:\d{3}|MWST|TVA|IVA|MVA)?|EU\d{9})$/;
/** A letter, or a character beyond ASCII, which may stand for one. */
const MAYBE_LETTER = /[A-Za-z\u0080-\uffff]/;
/** Five digits or more, where an IBAN is longer. */
const ALMOST = /^(?=(?:\D*\d){5})[0-9A-Z+*]{5,13}$/;

/** Whether a text can begin with a country's prefix. The million amounts of a large table cannot, and need no closer look. */
export const mayHavePrefix = (text: string): boolean => text.length <= LONGEST && MAYBE_LETTER.test(text);

/**
 * Commas, semicolons and a colon behind a digit: people put them into a number now and then, but what holds them in a whole
 * column is two columns, a price or a time. A column of such numbers is found by its header.
 */
export const DELIMITED = /[,;]|\d.*:/s;

/**
 * How much a cell looks like a VAT number by itself (or with its country, when given): 0 not at all, 1 by its shape or by
 * a syntax that nearly anything fits (`RO12`), 2 well-formed. Only for finding the column; a line is judged by the domain.
 */
export const rateVatText = (text: string, countryCode?: string): 0 | 1 | 2 => {
  if (text.length > LONGEST || !/\d/.test(text) || DELIMITED.test(text)) return 0;
  if (countryCode === undefined && !mayHavePrefix(text)) return 0;
  const cleaned = cleanVatText(repairCell(text, 'number').text);
  const resolved = resolveCountry(cleaned, countryCode);
  if (resolved.kind === 'unresolvable') return countryCode === undefined && NOT_COVERED.test(cleaned) ? 1 : 0;
  const { memberState, rest } = resolved;
  const almost = ALMOST.test(rest);
  if (fitNational(memberState, rest) !== null) return almost ? 2 : 1;
  return almost && countryCode === undefined ? 1 : 0;
};
