import type { RepairKind } from './batch-file.js';
import { trimBlanks } from './trim-blanks.js';

/** A cell as it is used, and what was done to it, in order. */
export type RepairedCell = { text: string; steps: readonly { kind: RepairKind; before: string; after: string }[] };

type Repairer = { kind: RepairKind; repair: (text: string) => string };

const ODD_SPACES = /[^\P{Z} ]|[\t\r\n]/gu;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A reference may hold any character; only what a spreadsheet put around it goes. */
const OF_TEXT: readonly Repairer[] = [
  { kind: 'blanks_removed', repair: trimBlanks },
  { kind: 'apostrophe_removed', repair: (text) => text.replace(/^['’]\s*/, '') },
  { kind: 'formula_unwrapped', repair: (text) => text.replace(/^="([^"]*)"$/, '$1').trim() },
];

const OF_NUMBERS: readonly Repairer[] = [
  {
    kind: 'blanks_removed',
    repair: (text) => trimBlanks(text.replace(ODD_SPACES, ' ').replace(INVISIBLE, '')),
  },
  ...OF_TEXT.slice(1),
  // Of two decimals at most: 123.000 may be a number in groups of three.
  { kind: 'decimals_removed', repair: (text) => text.replace(/^((?:[A-Za-z]{2} ?)?\d+)[.,]0{1,2}$/, '$1') },
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
 * A cell without what a spreadsheet did to it. Plain spaces at its ends go without being reported. Lost leading zeros are
 * the normaliser's to restore, and it takes out separators.
 *
 * @param holds `number` for VAT numbers, `text` for the rest
 */
export const repairCell = (cell: string, holds: 'number' | 'text'): RepairedCell => {
  let text = trimSpaces(cell);
  const steps: { kind: RepairKind; before: string; after: string }[] = [];
  for (const { kind, repair } of holds === 'number' ? OF_NUMBERS : OF_TEXT) {
    const after = repair(text);
    if (after !== text) steps.push({ kind, before: text, after });
    text = after;
  }
  if (holds === 'number' && DIGITS_LOST.test(text)) steps.push({ kind: 'digits_lost', before: text, after: text });
  return { text, steps };
};
