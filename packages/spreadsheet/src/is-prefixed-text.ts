import { cleanVatText, resolveCountry } from '@vat/domain/vat-syntax';
import { DELIMITED, mayHavePrefix } from './rate-vat-text.js';
import { repairCell } from './repair-cell.js';

/** A digit first, where `SEK 100` and `Item 7` have a letter; shorter than any IBAN. */
const NUMBER = /^\d[0-9A-Z+*]{0,12}$/;

const count = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/**
 * Whether a cell begins as a VAT number does, well-formed or not: a covered country's letters, or GR, and a digit. Austria's
 * U may stand between, and the letter of a Spanish number, unless blanks part it from the digits (`ESP 100` is a price).
 * What has more letters than digits after that is words (`De 12 dagen`).
 */
export const isPrefixedText = (text: string): boolean => {
  if (!mayHavePrefix(text) || !/\d/.test(text) || DELIMITED.test(text)) return false;
  const repaired = repairCell(text, 'number').text;
  const resolved = resolveCountry(cleanVatText(repaired));
  if (resolved.kind === 'unresolvable') return false;
  const { memberState, rest } = resolved;
  const hasLetter = memberState === 'AT' ? rest.startsWith('U') : memberState === 'ES' && /^[A-Z]\S*$/i.test(repaired);
  const digits = hasLetter ? rest.replace(/^[A-Z]/, '') : rest;
  return NUMBER.test(digits) && count(digits, /[A-Z]/g) <= count(digits, /\d/g);
};
