import { AppError } from '../errors.js';
import { stripUnsafeCharacters } from '../strip-unsafe-characters.js';

/** A calendar date as `YYYY-MM-DD`, or a sentence that says why a text is none. */
type ReadDate = { kind: 'date'; date: string } | { kind: 'unreadable'; reason: string };

/** How to write dates, as the last sentence of a refusal. */
export const WRITE_ISO = 'Write dates as YYYY-MM-DD, such as 2026-12-31, or day first, such as 31.12.2026.';

/** A time after the date, as databases and spreadsheets write it. It is not read: a supply has a date. */
const TIME = '(?:[T ]\\s*\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?\\s*(?:Z|[+-]\\d{2}:?\\d{2})?)?';
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.])\\s?(\\d{1,2})\\2\\s?(\\d{1,2})\\.?${TIME}$`);
/** `г.` stands after the year in the short date of Bulgarian spreadsheets. */
const DAY_FIRST = new RegExp(`^(\\d{1,2})([-/.])\\s?(\\d{1,2})\\2\\s?(\\d{4}|\\d{2})(?:\\.|\\s?г\\.?)?${TIME}$`);
/** A day as spreadsheets count it, of the years 1993 to 2100; in workbooks that count from 1904, up to four years later. */
const DAY_NUMBER = /^(?:3[2-9]|[4-6]\d|7[0-3])\d{3}(?:[.,]\d+)?$/;
const COMPACT = /^((?:19|20)\d{2})(\d{2})(\d{2})$/;
/** As DATEV writes it. Never read together with {@link COMPACT}: it would have the month 19 or 20, or the year of a month and a day. */
const COMPACT_DAY_FIRST = /^(\d{2})(0[1-9]|1[0-2])((?:19|20)\d{2})$/;

/** The single market, and with it the numbers of VIES, began in this year. */
const FIRST_YEAR = 1993;
const MONTHS = 12;

const unreadable = (reason: string): ReadDate => ({ kind: 'unreadable', reason });

/** A date that exists in the calendar. */
const dateOf = (text: string, year: number, month: number, day: number): ReadDate => {
  const at = new Date(Date.UTC(year, month - 1, day));
  const exists = at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === day;
  if (!exists) return unreadable(`“${text}” is not a date of the calendar. ${WRITE_ISO}`);
  if (year < FIRST_YEAR) return unreadable(`“${text}” is before ${FIRST_YEAR}.`);
  return { kind: 'date', date: at.toISOString().slice(0, 10) };
};

/**
 * Reads a date as Europe writes it: `2026-12-31` and with other separators, `20261231`, `31122026`, and the day before the month as in
 * `31.12.2026`, `31/12/2026`, `31-12-2026`, `31. 12. 2026`, `31.12.2026 г.`, `31.12.26`. A time after it is ignored. The position decides, never
 * the values: `03/04/2026` is 3 April, and `12/31/2026`, which can only be American, is refused instead of turned around, since
 * the other lines of its file would be read wrongly. A year of two digits after hyphens (`26-12-31`) is refused as well: both
 * ends could be the year. Pure.
 */
export const readSupplyDate = (given: string): ReadDate => {
  const text = given.trim();
  if (text === '') return unreadable(`The line has no supply date. ${WRITE_ISO}`);
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst) return dateOf(text, Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4]));
  const compactDayFirst = COMPACT_DAY_FIRST.exec(text);
  if (compactDayFirst)
    return dateOf(text, Number(compactDayFirst[3]), Number(compactDayFirst[2]), Number(compactDayFirst[1]));
  const compact = COMPACT.exec(text);
  if (compact) return dateOf(text, Number(compact[1]), Number(compact[2]), Number(compact[3]));
  if (DAY_NUMBER.test(text))
    return unreadable(
      `“${text}” is a number, as spreadsheets store a date. Give the cells of this column a date format. ${WRITE_ISO}`,
    );
  const dayFirst = DAY_FIRST.exec(text);
  if (!dayFirst) return unreadable(`“${text.slice(0, 40)}” is not a date. ${WRITE_ISO}`);
  const [, day = '', separator, month = '', year = ''] = dayFirst;
  if (year.length === 2 && separator === '-') return unreadable(`The year in “${text}” has two digits. ${WRITE_ISO}`);
  if (Number(month) > MONTHS && Number(day) <= MONTHS)
    return unreadable(`“${text}” has the month first, as in the USA; dates are read day first. ${WRITE_ISO}`);
  return dateOf(text, Number(year) + (year.length === 2 ? 2000 : 0), Number(month), Number(day));
};

/** Whether a cell looks like a date; for finding the column. A date that is refused counts. */
export const isDateLike = (cell: string): boolean => {
  const text = cell.trim();
  return YEAR_FIRST.test(text) || DAY_FIRST.test(text) || COMPACT.test(text);
};

/** The beginning of a period or of a remark (`01.01.2026-31.01.2026`), or a month in letters (`5 Jan 2026`, `5. Januar 2026`). */
const BEGINS_WITH_DATE =
  /^(?:(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d\d)|\d{1,2}\.?[\s-]?\p{L}{3,12}\.?[\s-](?:19|20)?\d\d)(?!\d)/u;

/** Whether a cell is a date, or begins with one in a form that {@link isDateLike} does not know. */
export const mayTellDate = (cell: string): boolean =>
  isDateLike(cell) || [COMPACT_DAY_FIRST, BEGINS_WITH_DATE].some((form) => form.test(cell.trim()));

/**
 * A supply may be planned, also beyond the longest `max_age_days`. A date further ahead is most likely a mistake, such as
 * `26/12/31` for 31 December 2026.
 */
const MAX_AHEAD_MS = 2 * 366 * 86_400_000;

/** A year of two digits further back is most likely the day: `26/01/05` for 5 January 2026. */
const MAX_SHORT_YEARS_BACK = 15;

/** The date of a line of a file that is read at a time. Throws INVALID_CSV with the line. */
export const supplyDateOf = ({ line, supplyDate }: { line: number; supplyDate: string }, at: Date): string => {
  const refuse = (reason: string): never => {
    throw new AppError('INVALID_CSV', { message: `Line ${line}: ${reason}`, extra: { line } });
  };
  const read = readSupplyDate(stripUnsafeCharacters(supplyDate));
  if (read.kind === 'unreadable') return refuse(read.reason);
  const isFarAhead = Date.parse(read.date) > at.getTime() + MAX_AHEAD_MS;
  if (isFarAhead) return refuse(`“${supplyDate.trim()}” is read as ${read.date}, more than two years ahead.`);
  const yearsBack = at.getUTCFullYear() - Number(read.date.slice(0, 4));
  if (!supplyDate.includes(read.date.slice(0, 4)) && yearsBack > MAX_SHORT_YEARS_BACK)
    return refuse(`“${supplyDate.trim()}” is read as ${read.date}; write its year with four digits. ${WRITE_ISO}`);
  return read.date;
};
