import type { CellFormat } from './cell-formats.js';

/** The first day that a workbook counts from: most count from 1900, some of the Macintosh from 1904. */
export type DateSystem = '1900' | '1904';

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;
/** 31 December 9999, the last day of spreadsheets. A larger number is none. */
const LAST_SERIAL = 2_958_466;
/** 1900 counts 29 February, which that year did not have; the days before it are off by one. */
const MISSING_DAY = 60;
const BEGIN = {
  '1900': Date.UTC(1899, 11, 30),
  '1904': Date.UTC(1904, 0, 1),
} as const;

/** Digits that a spreadsheet shows of a number; those after them are errors of binary fractions. */
const SIGNIFICANT = 15;

/** A number as a spreadsheet shows it without a format, but never in scientific notation: `1.23E+11` is `123000000000`. */
const plainNumber = (number: number): string => {
  if (Number.isInteger(number)) return Math.abs(number) < 1e21 ? BigInt(number).toString() : String(number);
  return String(Number(number.toPrecision(SIGNIFICANT)));
};

/** The date or time of a serial number as ISO 8601 writes them; null when it is outside the calendar of spreadsheets. */
const dateText = (serial: number, kind: 'date' | 'time' | 'date_time', system: DateSystem): string | null => {
  if (serial < 0 || serial >= LAST_SERIAL) return null;
  const days = serial + (system === '1900' && serial < MISSING_DAY ? 1 : 0);
  const ms = Math.round(days * DAY_MS);
  // 23:59:59.997, the end of the day in some databases, must not become the next day.
  const lastSecond = Math.floor(ms / DAY_MS + 1) * DAY_MS - SECOND_MS;
  const at = new Date(BEGIN[system] + Math.min(Math.round(ms / SECOND_MS) * SECOND_MS, lastSecond));
  const [date = '', time = ''] = at.toISOString().slice(0, 19).split('T');
  if (kind === 'time' && serial < 1) return time;
  return kind === 'date' || time === '00:00:00' ? date : `${date} ${time}`;
};

/** A whole number as programs write it: its digits are those of the cell, also where a binary fraction has fewer. */
const WHOLE = /^-?[1-9]\d*$/;

/** The text of a number in a cell. Text that is no number is returned as it is. */
export const numberText = (value: string, format: CellFormat, system: DateSystem): string => {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return value;
  const digits = WHOLE.test(value) ? value : plainNumber(number);
  if (format.kind === 'plain') return digits;
  if (format.kind !== 'padded') return dateText(number, format.kind, system) ?? digits;
  if (!/^\d+$/.test(digits)) return digits;
  const padded = digits.padStart(format.digits, '0');
  const insert = (shown: string, { text, left }: { text: string; left: number }) => {
    const at = padded.length - left;
    return shown.slice(0, at) + text + shown.slice(at);
  };
  return format.before + format.inserted.reduceRight(insert, padded);
};

const MIDNIGHT = /T00:00(?::00(?:\.0+)?)?Z?$/;

/** The text of a date that the workbook stores in ISO 8601: without a time at midnight. */
export const isoDateText = (value: string): string =>
  value.replace(MIDNIGHT, '').replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?Z?$/, '$1 $2');
