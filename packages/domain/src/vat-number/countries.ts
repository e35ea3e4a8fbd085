import type { MemberState } from '../member-states.js';

/** What a country's VAT numbers look like. Everything is about the national part, the number without its prefix. */
export type Country = {
  name: string;
  /**
   * The country's syntax only: no checksum and no rule about the meaning of digits. A `malformed` verdict is final, while
   * the upstream still checks every number that passes.
   */
  pattern: RegExp;
  /** The same as a sentence for the caller. */
  form: string;
  /** A whole number, prefix included, that fits and passes its checksum. */
  example: string;
  /** The lengths that occur, in characters, ascending. For RO the shortest and the longest. */
  lengths: readonly number[];
  /**
   * How many leading zeros a spreadsheet may have removed, 0 when none: where the length varies, where numbers never begin
   * with 0, or where a shorter number is another number (a French SIREN, a Swedish organisation number). At most 3, so
   * that `IT1` stays malformed.
   */
  mayLackZeros: 0 | 1 | 2 | 3;
};

const digits = (code: MemberState, count: number) => ({
  pattern: new RegExp(`^\\d{${count}}$`),
  form: `${code} numbers have ${count} digits.`,
  lengths: [count],
});

/** A number of `count` digits, the first of which is never 0. */
const digitsNotFromZero = (code: MemberState, count: number) => ({
  pattern: new RegExp(`^[1-9]\\d{${count - 1}}$`),
  form: `${code} numbers have ${count} digits and do not begin with 0.`,
  lengths: [count],
  mayLackZeros: 0 as const,
});

/**
 * The covered countries by their VIES prefix. Source: the number formats in the European Commission's VIES FAQ, Q11;
 * narrower only where the country's own definition excludes the rest (no leading 0 in DE, MT, RO, SI and SK; no I or O in
 * a French key; no X, Y, Z as Irish check letter; always 9 digits, B, 2 digits in NL; never 00 at the end in SE).
 */
export const COUNTRIES: Readonly<Record<MemberState, Country>> = {
  AT: {
    name: 'Austria',
    pattern: /^U\d{8}$/,
    form: 'AT numbers have the letter U and 8 digits.',
    example: 'ATU13585627',
    lengths: [9],
    mayLackZeros: 0,
  },
  BE: {
    name: 'Belgium',
    pattern: /^[01]\d{9}$/,
    form: 'BE numbers have 10 digits, the first being 0 or 1.',
    example: 'BE0428759497',
    lengths: [10],
    mayLackZeros: 1,
  },
  BG: {
    name: 'Bulgaria',
    pattern: /^\d{9,10}$/,
    form: 'BG numbers have 9 or 10 digits.',
    example: 'BG175074752',
    lengths: [9, 10],
    mayLackZeros: 0,
  },
  CY: {
    name: 'Cyprus',
    pattern: /^\d{8}[A-Z]$/,
    form: 'CY numbers have 8 digits and a letter.',
    example: 'CY10259033P',
    lengths: [9],
    mayLackZeros: 3,
  },
  CZ: {
    name: 'Czechia',
    pattern: /^\d{8,10}$/,
    form: 'CZ numbers have 8, 9 or 10 digits.',
    example: 'CZ25123891',
    lengths: [8, 9, 10],
    mayLackZeros: 0,
  },
  DE: { name: 'Germany', example: 'DE136695976', ...digitsNotFromZero('DE', 9) },
  DK: { name: 'Denmark', example: 'DK13585628', ...digits('DK', 8), mayLackZeros: 3 },
  // Every number begins with 10, and the 8 digits that people do have are the commercial register's.
  EE: { name: 'Estonia', example: 'EE100931558', ...digits('EE', 9), mayLackZeros: 0 },
  EL: { name: 'Greece', example: 'EL094259216', ...digits('EL', 9), mayLackZeros: 3 },
  ES: {
    name: 'Spain',
    pattern: /^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/,
    form: 'ES numbers have 9 characters: 7 digits in the middle, and a letter first, last or both.',
    example: 'ESA28184661',
    lengths: [9],
    mayLackZeros: 3,
  },
  FI: { name: 'Finland', example: 'FI20774740', ...digits('FI', 8), mayLackZeros: 3 },
  FR: {
    name: 'France',
    pattern: /^[0-9A-HJ-NP-Z]{2}\d{9}$/,
    form: 'FR numbers have a key of 2 digits or letters (not I or O) and 9 digits.',
    example: 'FR83404833048',
    lengths: [11],
    // Two would turn a bare SIREN, which has lost its key, into a number with the key 00.
    mayLackZeros: 1,
  },
  HR: { name: 'Croatia', example: 'HR33392005961', ...digits('HR', 11), mayLackZeros: 3 },
  HU: { name: 'Hungary', example: 'HU12892312', ...digits('HU', 8), mayLackZeros: 3 },
  IE: {
    name: 'Ireland',
    pattern: /^(?:\d{7}[A-W][A-Z]?|\d[A-Z+*]\d{5}[A-W])$/,
    form: 'IE numbers have 7 digits and 1 or 2 letters, or a digit, a letter, + or *, 5 digits and a letter.',
    example: 'IE6433435F',
    lengths: [8, 9],
    mayLackZeros: 0,
  },
  IT: { name: 'Italy', example: 'IT00743110157', ...digits('IT', 11), mayLackZeros: 3 },
  LT: {
    name: 'Lithuania',
    pattern: /^(?:\d{9}|\d{12})$/,
    form: 'LT numbers have 9 or 12 digits.',
    example: 'LT119511515',
    lengths: [9, 12],
    mayLackZeros: 0,
  },
  LU: { name: 'Luxembourg', example: 'LU15027442', ...digits('LU', 8), mayLackZeros: 3 },
  // Only a person's code can begin with 0, and it begins with a day of the month.
  LV: { name: 'Latvia', example: 'LV40003521600', ...digits('LV', 11), mayLackZeros: 1 },
  MT: { name: 'Malta', example: 'MT11679112', ...digitsNotFromZero('MT', 8) },
  NL: {
    name: 'Netherlands',
    pattern: /^\d{9}B\d{2}$/,
    form: 'NL numbers have 9 digits, the letter B and 2 digits.',
    example: 'NL004495445B01',
    lengths: [12],
    mayLackZeros: 3,
  },
  PL: { name: 'Poland', example: 'PL8567346215', ...digits('PL', 10), mayLackZeros: 3 },
  PT: { name: 'Portugal', example: 'PT501964843', ...digits('PT', 9), mayLackZeros: 3 },
  RO: {
    name: 'Romania',
    pattern: /^[1-9]\d{1,9}$/,
    form: 'RO numbers have 2 to 10 digits and do not begin with 0.',
    example: 'RO18547290',
    lengths: [2, 10],
    mayLackZeros: 0,
  },
  SE: {
    name: 'Sweden',
    pattern: /^\d{10}(?:0[1-9]|[1-9]\d)$/,
    form: 'SE numbers have 12 digits: an organisation number of 10 digits and, mostly, 01.',
    example: 'SE556188840401',
    lengths: [12],
    // Two would turn a bare organisation number into a number of 12 digits.
    mayLackZeros: 1,
  },
  SI: { name: 'Slovenia', example: 'SI50223054', ...digitsNotFromZero('SI', 8) },
  SK: { name: 'Slovakia', example: 'SK2022749619', ...digitsNotFromZero('SK', 10) },
  XI: {
    name: 'Northern Ireland',
    pattern: /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/,
    form: 'XI numbers have 9 or 12 digits, or the letters GD or HA and 3 digits.',
    example: 'XI980780684',
    lengths: [5, 9, 12],
    mayLackZeros: 0,
  },
};
