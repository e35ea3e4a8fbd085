/**
 * What people put between and around the characters of a VAT number: spaces and dashes of any kind (minus signs and
 * the hyphen bullet are dashes to the eye, though Unicode files them elsewhere), `.`, `/` and `_`. Also what nobody
 * sees and cells and PDF files carry along: control characters (U+007F), zero-width and other ignorable characters,
 * the byte order mark, lone surrogates.
 */
const SEPARATORS = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Pd}\p{Default_Ignorable_Code_Point}\u02D7\u2043\u2212./_]/gu;

/**
 * The text in NFKC and upper case, without separators. Full-width letters and digits become ASCII; digits and letters
 * of other scripts stay what they are, because a Cyrillic look-alike is a typing error that the caller must see.
 * Never throws. Source: contract part 2 §4 "Normalising".
 */
export const cleanVatText = (text: string): string => text.normalize('NFKC').toUpperCase().replace(SEPARATORS, '');
