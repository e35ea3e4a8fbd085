import { isMemberState, MEMBER_STATES, type MemberState } from '../member-states.js';
import { cleanVatText, findLabelEnds } from './clean-vat-text.js';
import { fitNational } from './fit-national.js';

/** ISO 3166-1 alpha-2, and prefixes of tax numbers that are no ISO codes: EL, EU (one-stop shop), XI, XK. */
const CODES =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
  'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
  'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
  'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
  'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
  'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW EL EU XI XK';

/** Every two-letter code that is read as a country's, covered or not. */
const KNOWN_COUNTRY_CODES: ReadonlySet<string> = new Set(CODES.split(' '));

/** Spellings people use for a code: Greece by its ISO code, the United Kingdom by its own. */
const ALIASES: Readonly<Record<string, string>> = { GR: 'EL', UK: 'GB' };

/** The code as VIES knows it (GR becomes EL, UK becomes GB), or null when `text` is no country's code. */
export const readCountryCode = (text: string): string | null => {
  const code = ALIASES[text] ?? text;
  return KNOWN_COUNTRY_CODES.has(code) ? code : null;
};

/**
 * Territories with a code of their own whose traders have the numbers of a member state. A customer list has the country of the
 * address: every trader of Northern Ireland is in GB there, and the prefix of its number is XI.
 */
const PREFIX_IN: Readonly<Record<string, MemberState>> = {
  AX: 'FI',
  GB: 'XI',
  GF: 'FR',
  GP: 'FR',
  MC: 'FR',
  MQ: 'FR',
  RE: 'FR',
  YT: 'FR',
};

/** The territories of {@link PREFIX_IN}, by their ISO codes. */
export const TERRITORIES: readonly string[] = Object.keys(PREFIX_IN);

/** The country of a number and the rest of the number, or the field to correct and a sentence that states how. */
type ResolvedCountry =
  | { kind: 'resolved'; memberState: MemberState; rest: string }
  | { kind: 'unresolvable'; field: 'vat_number' | 'country_code'; reason: string };

/** Where a country may be given beside a number: in a field of a call, in a column of a file, or nowhere. */
export type CountryPlace = 'field' | 'column' | 'nowhere';

const OF_FIELD = {
  orGive: ' or send country_code',
  unknown: "country_code is no country's code: send",
  name: 'country_code',
  leaveOut: 'leave out country_code',
};

/** How sentences name that place. */
const WORDS: Record<CountryPlace, typeof OF_FIELD> = {
  field: OF_FIELD,
  column: {
    orGive: ' or a country column',
    unknown: "The country column has no country's code: write",
    name: 'the country column',
    leaveOut: 'empty the cell of the country',
  },
  nowhere: { ...OF_FIELD, orGive: '' },
};

const SEND_COVERED_NUMBER = 'send a number of one of the 27 EU member states or of Northern Ireland (XI).';

const unresolvable = (field: 'vat_number' | 'country_code', reason: string): ResolvedCountry => ({
  kind: 'unresolvable',
  field,
  reason,
});

/** A number of which a spreadsheet stored only the first digits. No country has such numbers. */
const SCIENTIFIC = /^\d+E\+\d{1,3}$/;
const DIGITS_LOST =
  'A spreadsheet turned the number into scientific notation, and its last digits may be lost: enter it again as text.';

const noPrefix = (cleaned: string, place: CountryPlace): string => {
  if (/^[A-Z]?[^\P{L}A-Z]/u.test(cleaned)) {
    return 'The number begins with letters that only look like A to Z: type its country prefix again.';
  }
  if (SCIENTIFIC.test(cleaned)) return DIGITS_LOST;
  return `The number does not begin with a country prefix: add it (such as DE)${WORDS[place].orGive}.`;
};

/**
 * Whether the number is a number of the country it begins with. Great Britain's and the one-stop shop's (EU) are not
 * covered, but have 9 digits, which a French key of two letters is followed by, too.
 */
const readsUnderItsPrefix = (prefix: string, rest: string): boolean =>
  isMemberState(prefix)
    ? fitNational(prefix, rest) !== null
    : (prefix === 'GB' || prefix === 'EU') && /^\d{9}$/.test(rest);

const isWellFormed = (resolved: ResolvedCountry): boolean =>
  resolved.kind === 'resolved' && fitNational(resolved.memberState, resolved.rest) !== null;

/** Resolves the country of a text without a label, see {@link resolveCountry}. */
const resolveUnlabelled = (cleaned: string, countryCode: string, place: CountryPlace): ResolvedCountry => {
  const prefix = readCountryCode(cleaned.slice(0, 2));
  const rest = cleaned.slice(2);
  const given = cleanVatText(countryCode);

  if (cleaned === '') return unresolvable('vat_number', 'There is no number between the separators: send the number.');
  if (given === '') {
    if (prefix === null) return unresolvable('vat_number', noPrefix(cleaned, place));
    if (isMemberState(prefix)) return { kind: 'resolved', memberState: prefix, rest };
    return unresolvable('vat_number', `The number begins with ${prefix}, which is not covered: ${SEND_COVERED_NUMBER}`);
  }

  const memberState = readCountryCode(given);
  if (memberState === null) {
    return unresolvable('country_code', `${WORDS[place].unknown} one of ${MEMBER_STATES.join(', ')}.`);
  }
  if (!isMemberState(memberState)) {
    if (place === 'column' && prefix !== null && PREFIX_IN[memberState] === prefix)
      return { kind: 'resolved', memberState: PREFIX_IN[memberState], rest };
    return unresolvable('country_code', `${memberState} is not covered: ${SEND_COVERED_NUMBER}`);
  }
  if (prefix === memberState) return { kind: 'resolved', memberState, rest };
  if (place === 'column' && SCIENTIFIC.test(cleaned)) return unresolvable('vat_number', DIGITS_LOST);

  const isNational =
    prefix === null ||
    !/\d/.test(rest) ||
    (fitNational(memberState, cleaned) !== null && !readsUnderItsPrefix(prefix, rest));
  if (isNational) return { kind: 'resolved', memberState, rest: cleaned };
  const { name, leaveOut } = WORDS[place];
  return unresolvable(
    'country_code',
    `The number begins with ${prefix}, but ${name} says ${memberState}: correct one of the two or ${leaveOut}.`,
  );
};

/**
 * Resolves the country of a number. `cleaned` is text as {@link cleanVatText} leaves it; `countryCode` is as the caller
 * wrote it, and an empty one (an empty cell) is none; `place` is where, for the sentences. Rules:
 *
 * - A number that begins with the code of `countryCode` is written with its prefix, so both spellings mean the same.
 * - Another country's code at the front contradicts `countryCode`, and nothing is guessed: `DE123456789` with FR would
 *   fit France (key DE) and be reported invalid there. Only when the number fits `countryCode` and does not fit the
 *   country it begins with, the two letters are no prefix: `AT123456789` with FR, `GD123` with XI.
 * - In the column of a file, a territory that has the numbers of a member state ({@link PREFIX_IN}) agrees with its prefix:
 *   `XI110305878` with GB, `FR83404833048` with MC.
 * - In a file, a number whose digits a spreadsheet lost is a fault of its line and no malformed number.
 * - Two letters without a digit anywhere after them ("n/a") are no prefix once `countryCode` is given.
 * - A label in front (`VAT No.`, `TVA`) is dropped only when the text is no well-formed number with it, so that no number loses
 *   letters of its own. Of several ends of the label, the one that a well-formed number follows is right, else the last one that
 *   a number of a covered country follows. When none does, the sentence is about what follows the whole label. A label between
 *   the prefix and the rest (`IT P.IVA 00743110157`) is dropped when the number is well-formed without it.
 */
export const resolveCountry = (cleaned: string, countryCode = '', place: CountryPlace = 'field'): ResolvedCountry => {
  const whole = resolveUnlabelled(cleaned, countryCode, place);
  if (isWellFormed(whole)) return whole;
  const unlabelled = findLabelEnds(cleaned).map((end) => resolveUnlabelled(cleaned.slice(end), countryCode, place));
  const prefix = cleaned.slice(0, 2);
  const labelledInside = isMemberState(readCountryCode(prefix) ?? '')
    ? findLabelEnds(cleaned.slice(2)).map((end) =>
        resolveUnlabelled(prefix + cleaned.slice(2 + end), countryCode, place),
      )
    : [];
  const covered =
    [...unlabelled, ...labelledInside].find(isWellFormed) ?? unlabelled.findLast(({ kind }) => kind === 'resolved');
  return covered ?? (whole.kind === 'unresolvable' ? (unlabelled.at(-1) ?? whole) : whole);
};
