/**
 * The names of the tax, of its number or of its register by which people label a number; in capitals, without accents and
 * separators. Three characters at least, and no digit, so that none is the beginning of a national number.
 */
const NAMES = [
  ...['VAT', 'VATIN', 'TAX'],
  ...['UID', 'UST', 'USTID', 'MWST', 'UMSATZSTEUER'], // AT, DE
  ...['TVA', 'BTW'], // BE, FR, LU, NL
  ...['ДДС', 'ИНПОЗДДС', 'ЕИК', 'DDS', 'EIK', 'BULSTAT'], // BG
  ...['ΑΦΜ', 'ΦΠΑ', 'AFM', 'FPA'], // CY, EL
  ...['DIC', 'DPH', 'ICDPH'], // CZ, SK
  ...['CVR', 'MOMS', 'MOMSREG'], // DK, SE
  ...['KMKR'], // EE
  ...['NIF', 'CIF', 'IVA', 'NIFIVA', 'NIPC'], // ES, PT
  ...['ALV'], // FI
  ...['OIB', 'PDV'], // HR
  ...['AFA', 'ADOSZAM', 'KOZOSSEGIADOSZAM'], // HU
  ...['PIVA', 'PARTITAIVA'], // IT
  ...['PVM', 'PVN'], // LT, LV
  ...['NIP'], // PL
  ...['CUI'], // RO
  ...['DDV', 'IDZADDV', 'DAVCNA'], // SI
];
/** What stands before a name: `N° de TVA`, `Numero di IVA`, `EU VAT`, `ID PDV`. */
const BEFORE = ['EU', 'ID', 'COD', 'CODICE', 'N°', 'NO', 'NUM', 'NUMERO', 'N°DE', 'NODE', 'NUMERODE', 'NUMERODI'];
/** What follows one, several of them too: `VAT Reg. No.`, `USt-IdNr.`. None begins like a covered number. */
const AFTER = [
  ...['ID', 'IDENT', 'IDENTIFICATION', 'REG', 'REGISTRATION', 'EU', 'UE', 'INTRACOM', 'INTRACOMMUNAUTAIRE'],
  ...['N°', 'NO', 'NR', 'NRO', 'NUM', 'NUMBER', 'NUMMER', 'NUMERO', 'CODE', 'KOD', 'KODAS', '#'],
];
const oneOf = (words: readonly string[]) => `(?:${words.join('|')})`;
const LABEL = new RegExp(`^${oneOf(BEFORE)}?${oneOf(NAMES)}${oneOf(AFTER)}*$`, 'u');

/** In UTF-16 code units, as `vat_number` is at most; also bounds the work on longer texts. */
const MAX_LABEL_LENGTH = 40;

/** Every character without its accent, so that `DIČ` is found as `DIC`; as long as `text`. */
const withoutAccents = (text: string): string =>
  text.replace(/[^\0-\x7F]/g, (character) => character.normalize('NFD').charAt(0));

/**
 * Where a label may end that stands before a number (`VAT No.`, `N° TVA`, `P.IVA`), the shortest label first; empty when
 * the text begins with none. `cleaned` is text as {@link cleanVatText} leaves it. Whether a number follows is the caller's
 * to find out. Source: contract part 3 §1 "Spelling".
 */
export const findLabelEnds = (cleaned: string): number[] => {
  const digitAt = cleaned.search(/\d/);
  if (digitAt < 3) return [];
  const text = withoutAccents(cleaned.slice(0, Math.min(digitAt, MAX_LABEL_LENGTH)));
  const ends: number[] = [];
  for (let end = 3; end <= text.length; end += 1) if (LABEL.test(text.slice(0, end))) ends.push(end);
  return ends;
};
