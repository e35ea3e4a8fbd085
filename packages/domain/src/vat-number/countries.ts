import type { MemberState } from '../member-states.js';

/** What a country's VAT numbers look like. Everything is about the national part, the number without its prefix. */
export type Country = {
  /** English name. */
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
  DE: {
    name: 'Germany',
    pattern: /^[1-9]\d{8}$/,
    form: 'DE numbers have 9 digits and do not begin with 0.',
    example: 'DE136695976',
    lengths: [9],
    mayLackZeros: 0,
  },
  DK: {
    name: 'Denmark',
    pattern: /^\d{8}$/,
    form: 'DK numbers have 8 digits.',
    example: 'DK13585628',
    lengths: [8],
    mayLackZeros: 3,
  },
  EE: {
    name: 'Estonia',
    pattern: /^\d{9}$/,
    form: 'EE numbers have 9 digits.',
    example: 'EE100931558',
    lengths: [9],
    // Every number begins with 10, and the 8 digits that people do have are the commercial register's.
    mayLackZeros: 0,
  },
  EL: {
    name: 'Greece',
    pattern: /^\d{9}$/,
    form: 'EL numbers have 9 digits.',
    example: 'EL094259216',
    lengths: [9],
    mayLackZeros: 3,
  },
  ES: {
    name: 'Spain',
    pattern: /^(?:[A-Z]\d{7}[A-Z0-9]|\d{8}[A-Z])$/,
    form: 'ES numbers have 9 characters: 7 digits in the middle, and a letter first, last or both.',
    example: 'ESA28184661',
    lengths: [9],
    mayLackZeros: 3,
  },
  FI: {
    name: 'Finland',
    pattern: /^\d{8}$/,
    form: 'FI numbers have 8 digits.',
    example: 'FI20774740',
    lengths: [8],
    mayLackZeros: 3,
  },
  FR: {
    name: 'France',
    pattern: /^[0-9A-HJ-NP-Z]{2}\d{9}$/,
    form: 'FR numbers have a key of 2 digits or letters (not I or O) and 9 digits.',
    example: 'FR83404833048',
    lengths: [11],
    // Two would turn a bare SIREN, which has lost its key, into a number with the key 00.
    mayLackZeros: 1,
  },
  HR: {
    name: 'Croatia',
    pattern: /^\d{11}$/,
    form: 'HR numbers have 11 digits.',
    example: 'HR33392005961',
    lengths: [11],
    mayLackZeros: 3,
  },
  HU: {
    name: 'Hungary',
    pattern: /^\d{8}$/,
    form: 'HU numbers have 8 digits.',
    example: 'HU12892312',
    lengths: [8],
    mayLackZeros: 3,
  },
  IE: {
    name: 'Ireland',
    pattern: /^(?:\d{7}[A-W][A-Z]?|\d[A-Z+*]\d{5}[A-W])$/,
    form: 'IE numbers have 7 digits and 1 or 2 letters, or a digit, a letter, + or *, 5 digits and a letter.',
    example: 'IE6433435F',
    lengths: [8, 9],
    mayLackZeros: 0,
  },
  IT: {
    name: 'Italy',
    pattern: /^\d{11}$/,
    form: 'IT numbers have 11 digits.',
    example: 'IT00743110157',
    lengths: [11],
    mayLackZeros: 3,
  },
  LT: {
    name: 'Lithuania',
    pattern: /^(?:\d{9}|\d{12})$/,
    form: 'LT numbers have 9 or 12 digits.',
    example: 'LT119511515',
    lengths: [9, 12],
    mayLackZeros: 0,
  },
  LU: {
    name: 'Luxembourg',
    pattern: /^\d{8}$/,
    form: 'LU numbers have 8 digits.',
    example: 'LU15027442',
    lengths: [8],
    mayLackZeros: 3,
  },
  LV: {
    name: 'Latvia',
    pattern: /^\d{11}$/,
    form: 'LV numbers have 11 digits.',
    example: 'LV40003521600',
    lengths: [11],
    // Only a person's code can begin with 0, and it begins with a day of the month.
    mayLackZeros: 1,
  },
  MT: {
    name: 'Malta',
    pattern: /^[1-9]\d{7}$/,
    form: 'MT numbers have 8 digits and do not begin with 0.',
    example: 'MT11679112',
    lengths: [8],
    mayLackZeros: 0,
  },
  NL: {
    name: 'Netherlands',
    pattern: /^\d{9}B\d{2}$/,
    form: 'NL numbers have 9 digits, the letter B and 2 digits.',
    example: 'NL004495445B01',
    lengths: [12],
    mayLackZeros: 3,
  },
  PL: {
    name: 'Poland',
    pattern: /^\d{10}$/,
    form: 'PL numbers have 10 digits.',
    example: 'PL8567346215',
    lengths: [10],
    mayLackZeros: 3,
  },
  PT: {
    name: 'Portugal',
    pattern: /^\d{9}$/,
    form: 'PT numbers have 9 digits.',
    example: 'PT501964843',
    lengths: [9],
    mayLackZeros: 3,
  },
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
  SI: {
    name: 'Slovenia',
    pattern: /^[1-9]\d{7}$/,
    form: 'SI numbers have 8 digits and do not begin with 0.',
    example: 'SI50223054',
    lengths: [8],
    mayLackZeros: 0,
  },
  SK: {
    name: 'Slovakia',
    pattern: /^[1-9]\d{9}$/,
    form: 'SK numbers have 10 digits and do not begin with 0.',
    example: 'SK2022749619',
    lengths: [10],
    mayLackZeros: 0,
  },
  XI: {
    name: 'Northern Ireland',
    pattern: /^(?:\d{9}|\d{12}|(?:GD|HA)\d{3})$/,
    form: 'XI numbers have 9 or 12 digits, or the letters GD or HA and 3 digits.',
    example: 'XI980780684',
    lengths: [5, 9, 12],
    mayLackZeros: 0,
  },
};
