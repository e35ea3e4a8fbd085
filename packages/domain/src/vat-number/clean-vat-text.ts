/**
 * What people put between and around the characters of a VAT number: spaces and dashes of any kind (minus signs and
 * the hyphen bullet are dashes to the eye, though Unicode files them elsewhere), `.`, `/`, `_`, `:`, `,`, `;`, quotation
 * marks, round brackets, and what typography has in their place. Also what nobody sees and cells and PDF files carry
 * along: control characters (U+007F), zero-width and other ignorable characters, the byte order mark, lone surrogates.
 */
const SEPARATORS =
  /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Pd}\p{Default_Ignorable_Code_Point}\u02D7\u2043\u2212./_:,;'"()`\u00AB\u00BB\u2018-\u201F\u2032-\u2037\u2039\u203A\u02B9-\u02BC\u00B7\u2022\u2027\u2215\u2044\u2236\uA789\u3001\u3002\u060C\u061B\u2768\u2769]/gu;

/** An accent typed for an apostrophe. NFKC would make it a space and a combining accent, which stays. */
const STANDALONE_ACCENT = /\u00B4/gu;

/**
 * The text in NFKC and upper case, without separators. Full-width letters and digits become ASCII; digits and letters
 * of other scripts stay what they are, because a Cyrillic look-alike is a typing error that the caller must see.
 * Never throws. Source: contract part 2 §4 "Normalising", part 3 §1 "Spelling".
 */
export const cleanVatText = (text: string): string =>
  text.replace(STANDALONE_ACCENT, "'").normalize('NFKC').toUpperCase().replace(SEPARATORS, '');
