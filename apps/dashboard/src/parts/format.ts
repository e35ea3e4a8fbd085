const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** A number of bytes in a readable unit. */
export const byteCount = (bytes: number): string => {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log(bytes) / Math.log(1_000)));
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: UNITS[power] ?? 'byte',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(bytes / 1_000 ** power);
};

/** A whole number in the locale of the user. */
export const count = (value: number): string => new Intl.NumberFormat().format(value);

/** A whole number and its noun: 1 check, 2 checks. */
export const counted = (value: number, one: string, many: string): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A part in whole percent, rounded down, so that 100 % means all. */
export const percentOf = (part: number, total: number): number =>
  total === 0 ? 100 : Math.floor((100 * part) / total);

/** The name of a member state in the language of the pages. VIES uses ISO codes except for Greece (EL) and Northern Ireland (XI). */
export const countryName = (code: string): string => {
  if (code === 'XI') return 'Northern Ireland';
  return new Intl.DisplayNames('en', { type: 'region' }).of(code === 'EL' ? 'GR' : code) ?? code;
};

/** A duration in a readable unit: 38 ms, 1.2 s, 3 min, 2 h 5 min. */
export const duration = (ms: number): string => {
  const number = (value: number, digits: number) =>
    new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }).format(value);
  if (ms < 1_000) return `${number(ms, 0)} ms`;
  if (ms < 10_000) return `${number(ms / 1_000, 1)} s`;
  if (ms < 120_000) return `${number(ms / 1_000, 0)} s`;
  if (ms < 3_600_000) return `${number(ms / 60_000, 0)} min`;
  const minutes = Math.round(ms / 60_000);
  return `${number(Math.floor(minutes / 60), 0)} h ${minutes % 60} min`;
};

const MINUTE_MS = 60_000;
/** Units of a time to come, each used from a limit on, in milliseconds. */
const UNITS_OF_TIME = [
  { unit: 'day', ms: 1_440 * MINUTE_MS, from: 2_880 * MINUTE_MS },
  { unit: 'hour', ms: 60 * MINUTE_MS, from: 120 * MINUTE_MS },
  { unit: 'minute', ms: MINUTE_MS, from: MINUTE_MS },
] as const;

/** How far away a time to come is, in the words of the pages: in 25 minutes, in 3 hours. */
export const timeUntil = (at: Date, now: Date): string => {
  const ms = at.getTime() - now.getTime();
  const { unit, ms: length } = UNITS_OF_TIME.find(({ from }) => ms >= from) ?? { unit: null, ms: 1 };
  if (unit === null) return 'in less than a minute';
  return new Intl.RelativeTimeFormat('en').format(Math.round(ms / length), unit);
};

/** A time to the minute in the locale and time zone of the user, with its date when that is not today's. */
export const clockTime = (at: Date, now: Date): string =>
  new Intl.DateTimeFormat(undefined, {
    ...(at.toDateString() === now.toDateString() ? {} : { dateStyle: 'medium' }),
    timeStyle: 'short',
  }).format(at);

/** Names as a list in the words of the pages: Italy, Spain and Malta. */
export const listOf = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

const MAX_LENGTH = 200;

/** Truncates a text of unlimited length: a cell of a file may have two million characters. */
export const shorten = (text: string): string =>
  text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH).toWellFormed()}…`;

/** Saves a file through the downloads of the browser. */
export const saveFile = (file: Blob, name: string): void => {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // A download that has started no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
