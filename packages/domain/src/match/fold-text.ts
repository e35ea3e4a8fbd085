/**
 * Spelling differences that do not distinguish traders: case, diacritics, script and punctuation. A text becomes words of
 * `a–z` and digits; letters of other scripts stay as they are.
 */

/** Longer texts are cut before they are compared, so that a comparison takes a bounded time. */
const MAX_LENGTH = 400;

/** A word in up to three Latin spellings: the official one first. Two words are equal when they share a spelling. */
export type Word = {
  spellings: readonly [string, string, string];
  /** A full stop followed, so the word may be an abbreviation. */
  abbreviated: boolean;
};

// ISO 843 / ELOT 743, by letter. υ and the digraphs are handled in `latinFromGreek`.
const GREEK: Readonly<Record<string, string>> = {
  ...{ α: 'a', β: 'v', γ: 'g', δ: 'd', ε: 'e', ζ: 'z', η: 'i', θ: 'th', ι: 'i', κ: 'k', λ: 'l', μ: 'm' },
  ...{ ν: 'n', ξ: 'x', ο: 'o', π: 'p', ρ: 'r', σ: 's', ς: 's', τ: 't', υ: 'y', φ: 'f', χ: 'ch', ψ: 'ps', ω: 'o' },
};
/** Spellings that Greek traders also use for themselves. */
const GREEK_COMMON: Readonly<Record<string, string>> = { ...GREEK, υ: 'i', χ: 'h', ξ: 'ks' };

// The Bulgarian Transliteration Act of 2009, article 2; ы, э and ё occur in names of foreign origin.
const CYRILLIC: Readonly<Record<string, string>> = {
  ...{ а: 'a', б: 'b', в: 'v', г: 'g', д: 'd', е: 'e', ж: 'zh', з: 'z', и: 'i', й: 'y', к: 'k', л: 'l', м: 'm' },
  ...{ н: 'n', о: 'o', п: 'p', р: 'r', с: 's', т: 't', у: 'u', ф: 'f', х: 'h', ц: 'ts', ч: 'ch', ш: 'sh' },
  ...{ щ: 'sht', ъ: 'a', ь: 'y', ю: 'yu', я: 'ya', ы: 'y', э: 'e', ё: 'yo' },
};
const CYRILLIC_OLDER: Readonly<Record<string, string>> = { ...CYRILLIC, ъ: 'u', ц: 'c', й: 'i' };
const CYRILLIC_COMMON: Readonly<Record<string, string>> = {
  ...CYRILLIC,
  ж: 'j',
  й: 'j',
  ю: 'ju',
  я: 'ja',
  ц: 'c',
  х: 'kh',
};

/**
 * Letters that decomposition does not reduce to a base letter, and those with a second usual spelling. Danes also write o for ø
 * beside aa for å.
 */
const LATIN: Readonly<Record<string, readonly [string, string, string?]>> = {
  ß: ['ss', 'ss'],
  æ: ['ae', 'ae'],
  œ: ['oe', 'oe'],
  ø: ['o', 'oe'],
  ł: ['l', 'l'],
  đ: ['d', 'dj'],
  ð: ['d', 'd'],
  ...{ þ: ['th', 'th'], ı: ['i', 'i'], ħ: ['h', 'h'], ŧ: ['t', 't'], ŋ: ['n', 'n'], ĸ: ['k', 'k'], ĳ: ['ij', 'ij'] },
  ...{ ä: ['a', 'ae'], ö: ['o', 'oe'], ü: ['u', 'ue'], å: ['a', 'aa', 'aa'] },
};

const VOICED = 'αεηιουωβγδζλμνρ';
/** αυ, ευ and ηυ before a vowel or voiced consonant are av, ev, iv; otherwise af, ef, if (ELOT 743, note 3). */
const diphthong = (match: string, vowel: string, next: string): string =>
  `${GREEK[vowel] ?? match}${next !== '' && VOICED.includes(next) ? 'v' : 'f'}`;

/** `text` is decomposed and in lower case. A diaeresis, or an accent on the first vowel, separates a digraph. */
const latinFromGreek = (text: string, variant: number): string => {
  const table = variant === 2 ? GREEK_COMMON : GREEK;
  const transcribed =
    variant === 1
      ? text.replace(/([αεο])υ(?!\u0308)/gu, (_, vowel: string) => `${GREEK[vowel]}u`)
      : text
          .replace(/([αεη])υ\u0301?(?!\u0308)(?=(.?))/gu, diphthong)
          .replace(/ου(?!\u0308)/gu, 'ou')
          .replace(/γ(?=[γξχ])/gu, variant === 2 ? 'g' : 'n')
          .replace(/(^|[^\p{L}\p{M}])μπ/gu, '$1b');
  return transcribed.replace(/[α-ω]/gu, (letter) => table[letter] ?? letter);
};

const latinFromCyrillic = (text: string, variant: number): string => {
  const table = [CYRILLIC, CYRILLIC_OLDER, CYRILLIC_COMMON][variant] ?? CYRILLIC;
  return text
    .replace(/ия(?![\p{L}\p{M}])/gu, 'ia')
    .replace(/ьо/gu, 'yo')
    .replace(/[а-ё]/gu, (letter) => table[letter] ?? letter);
};

const HAS_GREEK = /[\u0370-\u03ff\u1f00-\u1fff]/u;
const HAS_CYRILLIC = /[\u0400-\u04ff]/u;

/**
 * `text` in Latin letters without diacritics, in lower case; punctuation stays. Variant 0 follows the official tables
 * (ELOT 743, the Bulgarian Transliteration Act, base letters); 1 is ISO 843 letter by letter and ö → oe; 2 is what traders
 * commonly write.
 */
export const latinize = (text: string, variant = 0): string => {
  let latin = text.normalize('NFKC').toLowerCase().normalize('NFC');
  latin = latin.replace(/[ßæœøłđðþıħŧŋĸĳäöüå]/gu, (letter) => LATIN[letter]?.[variant] ?? LATIN[letter]?.[0] ?? letter);
  // Cyrillic й is a letter of its own, not и with a mark, so it is read before the text is decomposed.
  if (HAS_CYRILLIC.test(latin)) latin = latinFromCyrillic(latin, variant);
  latin = latin.normalize('NFD');
  if (HAS_GREEK.test(latin)) latin = latinFromGreek(latin, variant);
  return latin.replace(/\p{M}+/gu, '');
};

/** True where a text states nothing: empty, or only dashes or asterisks, as VIES and registers write "not disclosed". */
export const isUnstated = (text: string | null | undefined): boolean => !text || /^(?:[\s\-–—*_.]*|n\/a)$/iu.test(text);

// A letter, digit or mark; the marks belong to scripts that are not turned into Latin letters.
const WORD = /[\p{L}\p{N}\p{M}]+\.?/gu;
/** Elided articles and prepositions are words of their own: "l'Étoile", "dell'Arte". */
const ELISIONS = /(?<![\p{L}\p{N}])(l|d|dell|all|nell|sull|qu)['’‘`´ʼ](?=\p{L})/giu;
const APOSTROPHES = /['’‘`´ʼ]/gu;
/** Single letters, each with a full stop: an abbreviation such as "S.A.", "G.m.b.H." or "s. r. o.". */
const DOTTED =
  /(?<![\p{L}\p{N}])(?:(?:\p{L}\.){1,7}\p{L}(?![\p{L}\p{N}])\.?|\p{L}\.(?:\s\p{L}\.){1,7}|\p{L}\.(?:\s\p{L}\.){1,6}\s\p{L}(?![\p{L}\p{N}]))/gu;

const splitWords = (text: string): string[] =>
  text
    .normalize('NFKC')
    .replace(ELISIONS, '$1 ')
    .replace(APOSTROPHES, '')
    .replace(DOTTED, (letters) => ` ${letters.replace(/[.\s]/g, '')} `)
    .match(WORD) ?? [];

const ASCII = /^[\x20-\x7e]*$/;

const toWord = (text: string): Word => {
  const bare = text.replace('.', '');
  const abbreviated = text !== bare;
  if (ASCII.test(bare)) {
    const spelling = bare.toLowerCase();
    // Bulgarian -ия is officially -ia; many write -iya.
    return { spellings: [spelling, spelling, spelling.replace(/iya$/, 'ia')], abbreviated };
  }
  return { spellings: [latinize(bare, 0), latinize(bare, 1), latinize(bare, 2)], abbreviated };
};

/** The words of a text. `&` and `+` become the word `and`. */
export const wordsOf = (text: string): Word[] =>
  splitWords(text.slice(0, MAX_LENGTH).replace(/[&+]/g, ' and ')).map(toWord);

/** The official spelling, which tables are written in. */
export const spellingOf = (word: Word): string => word.spellings[0];

/** True when two words share a spelling. */
export const sameWord = (one: Word, other: Word): boolean =>
  one.spellings.some((spelling) => other.spellings.includes(spelling));

/** Words written as one, so that "Bau Haus" equals "Bauhaus". */
export const joinWords = (words: readonly Word[]): Word => {
  const joined = (variant: 0 | 1 | 2) => words.map((word) => word.spellings[variant]).join('');
  return { spellings: [joined(0), joined(1), joined(2)], abbreviated: false };
};

/** The first spelling of a text without spaces and punctuation: the key of tables of names. */
export const squeeze = (text: string): string => wordsOf(text).map(spellingOf).join('');
