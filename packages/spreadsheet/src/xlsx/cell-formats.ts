import type { Part } from './archive.js';
import { readXml } from './read-xml.js';

/** How a number is shown: as a date, a time or both, with leading zeros up to a length, or as it is. */
export type CellFormat =
  | { kind: 'date' | 'time' | 'date_time' }
  | { kind: 'padded'; digits: number }
  | { kind: 'plain' };

const PLAIN: CellFormat = { kind: 'plain' };

/** What a format shows besides fields: quoted and escaped characters, widths, fillers, and conditions, colours and locales. */
const DECORATION = /"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g;
/** `[h]:mm` counts hours beyond 24: a duration, which is no time of a day. */
const ELAPSED = /\[(?:h+|m+|s+)\]/i;
const LEADING_ZEROS = /^0{2,30}$/;

/** Reads the code of a number format, such as `dd.mm.yyyy` or `00000000000`. Its first section is that of positive numbers. */
const formatOfCode = (code: string): CellFormat => {
  const [section = ''] = code.replace(/"[^"]*"|\\./g, '').split(';');
  if (ELAPSED.test(section)) return PLAIN;
  const fields = section.replace(DECORATION, '').replace(/General/i, '');
  if (LEADING_ZEROS.test(fields)) return { kind: 'padded', digits: fields.length };
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
