/**
 * Characters that people put between and around the characters of a VAT number: spaces and dashes of any kind (minus signs
 * and the hyphen bullet look like dashes, though Unicode classifies them otherwise), `.`, `/`, `_`, `:`, `,`, `;`, quotation
 * marks, round brackets, and their typographic variants. Also invisible characters of cells and PDF files: control
 * characters (U+007F), zero-width and other ignorable characters, the byte order mark, lone surrogates.
 */
const SEPARATORS =
  /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Pd}\p{Default_Ignorable_Code_Point}\u02D7\u2043\u2212./_:,;'"()`\u00AB\u00BB\u2018-\u201F\u2032-\u2037\u2039\u203A\u02B9-\u02BC\u00B7\u2022\u2027\u2215\u2044\u2236\uA789\u3001\u3002\u060C\u061B\u2768\u2769]/gu;

/** An accent typed as an apostrophe. NFKC would turn it into a space and a combining accent, which would remain. */
const STANDALONE_ACCENT = /\u00B4/gu;

/**
 * In UTF-16 code units, longer than a number with separators. NFKC sorts combining marks in a time that grows with the square of
 * their number: a requester of 64 KiB would occupy the process for a second, a cell of 2 MiB for minutes.
 */
const MAX_TEXT_LENGTH = 200;

/** A long text without separators; what is still long is cut, and ends with a character that no number has. */
const shorten = (text: string): string => {
  const bare = text.replace(SEPARATORS, '');
  return bare.length > MAX_TEXT_LENGTH ? `${bare.slice(0, MAX_TEXT_LENGTH)}?` : bare;
};

/**
 * The text in NFKC and upper case, without separators. Full-width letters and digits become ASCII; digits and letters
 * of other scripts are unchanged, because a Cyrillic look-alike is a typing error that the caller must see. A text that is too
 * long for a number is cut and never becomes one.
 * Never throws.
 */
export const cleanVatText = (text: string): string =>
  (text.length > MAX_TEXT_LENGTH ? shorten(text) : text)
    .replace(STANDALONE_ACCENT, "'")
    .normalize('NFKC')
    .toUpperCase()
    .replace(SEPARATORS, '');

/**
 * The names of the tax, of its number or of its register by which people label a number; in capitals, without accents and
 * separators. Three characters at least, and no digit, so that none is the beginning of a national number.
 */
const NAMES = [
  ...['VAT', 'VATIN', 'TAX'],
  ...['UID', 'ATUNR', 'ATUNUMMER', 'UST', 'USTID', 'MWST', 'UMSATZSTEUER'], // AT, DE
  ...['TVA', 'BTW', 'KBO', 'BCE', 'ONDERNEMINGS', 'ENTREPRISE'], // BE, FR, LU, NL
  ...['ДДС', 'ИНПОДДС', 'ИНПОЗДДС', 'ЕИК', 'DDS', 'EIK', 'BULSTAT'], // BG
  ...['ΑΦΜ', 'ΦΠΑ', 'AFM', 'FPA'], // CY, EL
  ...['DIC', 'DPH', 'ICDPH'], // CZ, SK
  ...['CVR', 'SENR', 'SENUMMER', 'MOMS', 'MOMSREG', 'MOMSREGISTRERINGS'], // DK, SE
  ...['KMKR'], // EE
  ...['NIF', 'CIF', 'IVA', 'NIPC'], // ES, PT
  ...['ALV'], // FI
  ...['OIB', 'PDV'], // HR
  ...['AFA', 'ADOSZAM', 'KOZOSSEGIADOSZAM'], // HU
  ...['PIVA', 'PARTIVA', 'PARTITAIVA'], // IT
  ...['PVM', 'PVN'], // LT, LV
  ...['NIP'], // PL
  ...['CUI', 'FISCAL'], // RO
  ...['DDV', 'IDZADDV', 'DAVCNA'], // SI
  ...['CBL'], // IE
];
/** What stands before a name: `N° de TVA`, `Numero di IVA`, `EU VAT`, `ID PDV`. */
const BEFORE = [
  ...['EU', 'ID', 'COD', 'CODICE', 'CF', 'N', 'N°', 'NO', 'NR', 'NUM', 'NUMER', 'NUMERO', 'НОМЕРПО', 'UIMHIR'],
  ...['N°DE', 'NODE', 'NUMERODE', 'NUMERODI', 'N°D', 'NUMEROD'],
];
/** What follows one, several of them too: `VAT Reg. No.`, `USt-IdNr.`. Only `N` begins like a covered number (NL). */
const AFTER = [
  ...['ID', 'IDENT', 'IDENTIFICATION', 'IDENTIFIKATIONS', 'IDENTIFICATIE', 'REG', 'REGISTRATION', 'REGISTRACIJAS'],
  ...['EU', 'UE', 'INTRA', 'INTRACOM', 'INTRACOMMUNAUTAIRE'],
  ...[
    'N',
    'N°',
    'NO',
    'NR',
    'NRO',
    'NUM',
    'NUMBER',
    'NUMMER',
    'NUMERO',
    'NUMURS',
    'НОМЕР',
    'BROJ',
    'ST',
    'STEVILKA',
    '#',
  ],
  ...['CODE', 'KOD', 'KODAS', 'MOKETOJOKODAS'],
];
const oneOf = (words: readonly string[]) => `(?:${words.join('|')})`;
/** Several names where a state has several languages: `TVA/BTW`. */
const LABEL = new RegExp(`^${oneOf(BEFORE)}?(?:${oneOf(NAMES)}${oneOf(AFTER)}*)+$`, 'u');

/** In UTF-16 code units, longer than any label; bounds the work on long texts. */
const MAX_LABEL_LENGTH = 40;

/** Every character without its accent, so that `DIČ` is found as `DIC`; as long as `text`. */
const withoutAccents = (text: string): string =>
  text.replace(/[^\0-\x7F]/g, (character) => character.normalize('NFD').charAt(0));

/**
 * Where a label may end that stands before a number (`VAT No.`, `N° TVA`, `P.IVA`), the shortest label first; empty when
 * the text begins with none. `cleaned` is text as {@link cleanVatText} leaves it. The caller
 * must test whether a number follows.
 */
export const findLabelEnds = (cleaned: string): number[] => {
  const digitAt = cleaned.search(/\d/);
  if (digitAt < 3) return [];
  const text = withoutAccents(cleaned.slice(0, Math.min(digitAt, MAX_LABEL_LENGTH)));
  const ends: number[] = [];
  for (let end = 3; end <= text.length; end += 1) if (LABEL.test(text.slice(0, end))) ends.push(end);
  return ends;
};
