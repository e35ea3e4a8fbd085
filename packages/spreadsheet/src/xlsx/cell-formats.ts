import { COUNTRIES } from '@vat/domain/vat-syntax';
import type { Part } from './archive.js';
import { readXml } from './read-xml.js';

/** Letters that a format shows between the digits of a number or after them; `left` digits follow. */
type Inserted = { text: string; left: number };

/**
 * How a number is shown: as a date, a time or both, with leading zeros up to a length and the letters around it, or as it is.
 */
export type CellFormat =
  | { kind: 'date' | 'time' | 'date_time' }
  | { kind: 'padded'; digits: number; before: string; inserted: readonly Inserted[] }
  | { kind: 'plain' };

const PLAIN: CellFormat = { kind: 'plain' };

/** What a format shows besides fields: quoted and escaped characters, widths, fillers, and conditions, colours and locales. */
const DECORATION = /"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g;
/** `[h]:mm` counts hours beyond 24: a duration, which is no time of a day. */
const ELAPSED = /\[(?:h+|m+|s+)\]/i;
const MAX_ZEROS = 30;
/** The parts of a code: a quoted text, an escaped character, a width, a filler, what is in brackets, and any other character or General. */
const PARTS = /"([^"]*)"|\\(.)|[_*].|\[[^\]]*\]|(General|.)/gisu;

/** Whether a text is the prefix of a covered country. Other letters may be a unit: `SEK`, `kg`. */
const isPrefix = (text: string): boolean => text === 'ATU' || text === 'GR' || Object.hasOwn(COUNTRIES, text);

/**
 * Reads a format of whole numbers with leading zeros: a code such as `00000000000`, `000-000-00-00` and `0###`. Letters before the zeros
 * belong to the code that a reader sees (`"DE"000000000`, `"K-"00000`), as do capitals between them and capitals with digits after
 * them (`"NL"000000000"B"00`, `000000000"B01"`). Without leading zeros only the prefix of a country does (`"DE"0`, `"DE"General`).
 * Null for any other format.
 */
const codeFormat = (code: string): CellFormat | null => {
  let [before, zeros, hashes] = ['', 0, 0];
  const texts: { text: string; at: number }[] = [];
  for (const [, quoted, escaped, character] of code.matchAll(PARTS)) {
    const at = zeros + hashes;
    if (character === ';') break;
    // After a 0 a # shows a zero, too.
    if (character === '0' || character?.toLowerCase() === 'general' || (character === '#' && zeros > 0)) zeros += 1;
    else if (character === '#') hashes += 1;
    else if (character === undefined || character === ' ' || character === '-') {
      const text = quoted ?? escaped ?? character ?? '';
      const last = texts.at(-1);
      if (at === 0) before += text;
      else if (last?.at === at) last.text += text;
      else texts.push({ text, at });
    } else return null;
  }
  const digits = zeros + hashes;
  const hasZeros = zeros > 1 && hashes === 0;
  const keepsLetters = hasZeros ? /\p{L}/u.test(before) : isPrefix(before.trim());
  if (digits === 0 || zeros > MAX_ZEROS || !(hasZeros || keepsLetters)) return null;
  // Other texts group the digits, or are a unit after them.
  const ending = keepsLetters ? /^[A-Z\d]+$/ : /^[A-Z]+\d+$/;
  const inserted = texts
    .filter(({ text, at }) => (at === digits ? ending : /^[A-Z]+$/).test(text))
    .map(({ text, at }) => ({ text, left: digits - at }));
  return { kind: 'padded', digits: zeros, before: keepsLetters ? before : '', inserted };
};

/** Reads the code of a number format, such as `dd.mm.yyyy` or `00000000000`. Its first section is that of positive numbers. */
const formatOfCode = (code: string): CellFormat => {
  const [section = ''] = code.replace(/"[^"]*"|\\./g, '').split(';');
  if (ELAPSED.test(section)) return PLAIN;
  const padded = codeFormat(code);
  if (padded !== null) return padded;
  const fields = section.replace(DECORATION, '').replace(/General/i, '');
  const hasTime = /[hs]/i.test(fields);
  const hasDate = /[yd]/i.test(fields) || (/m/i.test(fields) && !hasTime);
  if (hasDate) return { kind: hasTime ? 'date_time' : 'date' };
  return hasTime ? { kind: 'time' } : PLAIN;
};

/** The formats that have numbers instead of codes, as ranges; those of East Asia included. ECMA-376 part 1, §18.8.30. */
const BUILT_IN: readonly (readonly [first: number, last: number, kind: 'date' | 'time' | 'date_time'])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date_time'],
  [27, 31, 'date'],
  [32, 35, 'time'],
  [36, 36, 'date'],
  [45, 45, 'time'],
  [47, 47, 'time'],
  [50, 58, 'date'],
];

const builtIn = (id: number): CellFormat => {
  const [, , kind] = BUILT_IN.find(([first, last]) => id >= first && id <= last) ?? [];
  return kind === undefined ? PLAIN : { kind };
};

export type FindFormat = (style: string | undefined) => CellFormat;

export const readFormats = (part: Part | null): FindFormat => {
  const codes = new Map<string, CellFormat>();
  const formats: CellFormat[] = [];
  let inCells = false;
  if (part !== null)
    readXml(part, {
      open: (name, attributes) => {
        const id = attributes.numFmtId ?? '';
        if (name === 'cellXfs') inCells = true;
        else if (name === 'numFmt') codes.set(id, formatOfCode(attributes.formatCode ?? ''));
        else if (name === 'xf' && inCells) formats.push(codes.get(id) ?? builtIn(Number(id)));
      },
      close: (name) => {
        if (name === 'cellXfs') inCells = false;
      },
    });
  return (style) => formats[Number(style ?? 0)] ?? PLAIN;
};
