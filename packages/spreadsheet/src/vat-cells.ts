import { cleanVatText, fitNational, resolveCountry } from '@vat/domain/vat-syntax';
import type { RepairKind } from './batch-file.js';
import { isBlank, trimBlanks } from './cells.js';

/** A repaired cell and its repairs, in order. */
type RepairedCell = { text: string; steps: readonly { kind: RepairKind; before: string; after: string }[] };

type Repairer = { kind: RepairKind; repair: (text: string) => string };

const ODD_SPACES = /[^\P{Z} ]|[\t\r\n]/gu;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A reference may contain any character; only what a spreadsheet added around it is removed. */
const TEXT_REPAIRS: readonly Repairer[] = [
  { kind: 'blanks_removed', repair: trimBlanks },
  { kind: 'apostrophe_removed', repair: (text) => text.replace(/^['’]\s*/, '') },
  { kind: 'formula_unwrapped', repair: (text) => text.replace(/^="([^"]*)"$/, '$1').trim() },
];

/** A number in groups of three with two decimals, as a spreadsheet formats amounts: `136.695.976,00`, `136,695,976.00`, `136 695 976,00`. */
const GROUPED_DECIMALS = /^(\d{1,3}(?:(?:\.\d{3})+(?=,)|(?:,\d{3})+(?=\.)|(?: \d{3})+(?=[.,])))[.,]00$/;

const NUMBER_REPAIRS: readonly Repairer[] = [
  {
    kind: 'blanks_removed',
    repair: (text) => trimBlanks(text.replace(ODD_SPACES, ' ').replace(INVISIBLE, '')),
  },
  ...TEXT_REPAIRS.slice(1),
  // Not three decimals: 123.000 may be a number in groups of three.
  { kind: 'decimals_removed', repair: (text) => text.replace(/^((?:[A-Za-z]{2} ?)?\d+)[.,](?:0{1,2}|0{4,})$/, '$1') },
  { kind: 'decimals_removed', repair: (text) => text.replace(GROUPED_DECIMALS, '$1') },
  // As programs write a number whose digits are all there: the exponent is that of the last one.
  {
    kind: 'decimals_removed',
    repair: (text) =>
      text.replace(/^(\d)[.,](\d{7,12})E\+?0?(\d{1,2})$/i, (whole, first: string, rest: string, exponent: string) =>
        rest.length === Number(exponent) ? `${first}${rest}` : whole,
      ),
  },
  {
    kind: 'grouping_removed',
    repair: (text) => (/^\d{1,3}(?:,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text),
  },
];

const trimSpaces = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
};

const DIGITS_LOST = /^\d(?:[.,]\d+)?E[+-]?\d{1,3}$/i;

/**
 * Removes what a spreadsheet added to a cell. Plain spaces at its ends are removed without a repair. The domain's
 * normalisation restores leading zeros and removes separators.
 *
 * @param holds `number` for VAT numbers, `text` for the rest
 */
export const repairCell = (cell: string, holds: 'number' | 'text'): RepairedCell => {
  let text = trimSpaces(cell);
  const steps: { kind: RepairKind; before: string; after: string }[] = [];
  for (const { kind, repair } of holds === 'number' ? NUMBER_REPAIRS : TEXT_REPAIRS) {
    const after = repair(text);
    if (after !== text) steps.push({ kind, before: text, after });
    text = after;
  }
  if (holds === 'number' && DIGITS_LOST.test(text)) steps.push({ kind: 'digits_lost', before: text, after: text });
  return { text, steps };
};

/** The maximum length of a text that is rated; a number with separators between all its characters is shorter. */
const MAX_VAT_TEXT = 40;

/**
 * Numbers of countries outside VIES. Their lines are refused individually, but they identify the column of the
 * numbers.
 */
const NOT_COVERED = /^(?:(?:GB|UK|NO|CHE)\d{9}(?:\d{3}|MWST|TVA|IVA|MVA)?|EU\d{9})$/;
/** A letter, or a character beyond ASCII, which may represent one. */
const MAYBE_LETTER = /[A-Za-z\u0080-\uffff]/;
/** At least five digits and at most 13 characters; an IBAN is longer. */
const ALMOST = /^(?=(?:\D*\d){5})[0-9A-Z+*]{5,13}$/;

/** Whether a text can begin with a country's prefix: a fast exclusion of the amounts in a large table. */
const mayHavePrefix = (text: string): boolean => text.length <= MAX_VAT_TEXT && MAYBE_LETTER.test(text);

/**
 * Commas, semicolons, a tab inside, and a colon after a digit. A single number may contain them, but a whole column with them is
 * two columns, prices or times. A column of such numbers is found only by its header.
 */
const DELIMITED = /[,;]|\d.*:|\S\t+\S/s;

/** Without its separators it has the digits of a number of eight states: `13.07.2026`, `2026-07-13`, `13/07/26`. */
const SEPARATED_DATE =
  /^\s*(?:(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:19|20)?\d\d)\.?(?:[T\s].*)?$/s;

const ROMANIAN_WEIGHTS = [7, 5, 3, 2, 1, 7, 5, 3, 2];

/**
 * Romanian numbers have 2 to 10 digits, so any code of a customer that begins with RO (`RO10001`) is well-formed. One in ten of
 * them has the check digit.
 */
const hasRomanianCheckDigit = (national: string): boolean => {
  const digits = [...national.padStart(ROMANIAN_WEIGHTS.length + 1, '0')].map(Number);
  const sum = ROMANIAN_WEIGHTS.reduce((total, weight, at) => total + weight * (digits[at] ?? 0), 0);
  return ((sum * 10) % 11) % 10 === digits.at(-1);
};

/**
 * Rates how much a cell looks like a VAT number by itself, or with its country if given: 0 not at all, 1 by its shape
 * or by a very general syntax (`RO12`, `RO10001`), 2 well-formed. Only for finding the column; the domain validates the lines.
 */
export const rateVatText = (text: string, countryCode?: string): 0 | 1 | 2 => {
  if (text.length > MAX_VAT_TEXT || !/\d/.test(text) || DELIMITED.test(text)) return 0;
  if (SEPARATED_DATE.test(text)) return 0;
  if (countryCode === undefined && !mayHavePrefix(text)) return 0;
  const cleaned = cleanVatText(repairCell(text, 'number').text);
  const resolved = resolveCountry(cleaned, countryCode, 'column');
  if (resolved.kind === 'unresolvable') return countryCode === undefined && NOT_COVERED.test(cleaned) ? 1 : 0;
  const { memberState, rest } = resolved;
  const almost = ALMOST.test(rest);
  const national = fitNational(memberState, rest);
  if (national !== null) return almost && (memberState !== 'RO' || hasRomanianCheckDigit(national)) ? 2 : 1;
  return almost && countryCode === undefined ? 1 : 0;
};

/** Begins with a digit, unlike the rest of `SEK 100` and `Item 7`, and is shorter than any IBAN. */
const NUMBER = /^\d[0-9A-Z+*]{0,12}$/;

const count = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/**
 * Whether a cell begins like a VAT number, well-formed or not: the letters of a covered country, or GR, and a digit.
 * Between them may be Austria's U or the letter of a Spanish number, unless a blank follows it (`ESP 100` is a
 * price). A rest with more letters than digits is text (`De 12 dagen`).
 */
const isPrefixedText = (text: string): boolean => {
  if (!mayHavePrefix(text) || !/\d/.test(text) || DELIMITED.test(text)) return false;
  const repaired = repairCell(text, 'number').text;
  const resolved = resolveCountry(cleanVatText(repaired));
  if (resolved.kind === 'unresolvable') return false;
  const { memberState, rest } = resolved;
  const hasLetter = memberState === 'AT' ? rest.startsWith('U') : memberState === 'ES' && /^[A-Z]\S*$/i.test(repaired);
  const digits = hasLetter ? rest.replace(/^[A-Z]/, '') : rest;
  return NUMBER.test(digits) && count(digits, /[A-Z]/g) <= count(digits, /\d/g);
};

/**
 * The column of the numbers in a file without any well-formed number: most of its cells begin like a number. The leftmost
 * column with the most such cells; null when there is none. The first row may be an unknown header.
 *
 * @param taken columns with another meaning
 */
export const findPrefixedColumn = (
  rows: readonly (readonly string[])[],
  taken: readonly (number | null)[],
): number | null => {
  const prefixed: number[] = [];
  const others: number[] = [];
  for (const [at, row] of rows.entries()) {
    for (const [column, cell] of row.entries()) {
      if (isPrefixedText(cell)) prefixed[column] = (prefixed[column] ?? 0) + 1;
      else if ((at > 0 || rows.length === 1) && !isBlank(cell)) others[column] = (others[column] ?? 0) + 1;
    }
  }
  let best: number | null = null;
  for (const [column, count = 0] of prefixed.entries()) {
    if (count <= (others[column] ?? 0) || taken.includes(column)) continue;
    if (best === null || count > (prefixed[best] ?? 0)) best = column;
  }
  return best;
};
