import { spellingOf, type Word, wordsOf } from './fold-text.js';
import { canonicalWords } from './name-phrases.js';
import { splitLegalForm } from './split-legal-form.js';

/** Names of sources are shorter; longer texts are cut, so that a comparison takes a bounded time. */
const MAX_LENGTH = 400;
const MAX_READINGS = 6;

type Reading = { text: string; atMost: number };

/** A match with the trading name beside a registered name. */
const TRADING_NAME = 93;
const TRADING_AS =
  /\s(?:t\/a|t\.a\.|trading as|d\/b\/a|dba|doing business as|handelnd unter|h\.o\.d\.n\.|handelend onder de naam|nom commercial|nombre comercial|a\.k\.a\.|aka|tätig als)\s+/iu;
/** The short name that belongs to the registered one. */
const IN_SHORT =
  /[\s,(]+(?:v skratke|skrátene|ve zkratce|w skrócie|in short|abgekürzt|en abrégé|in het kort|afgekort|en sigla|in sigla|in forma abbreviata|abbreviabile in|rövidített név(?:en)?|o in breve|in breve)[\s:]+/iu;
const SHORT_NAME = 98;
/** "Bar Sport S.n.c. di Rossi Mario & C.": the partners of an Italian partnership. */
const PARTNERS = /\s+di\s+[^&]+?\s(?:&|e)\s?c\b\.?/iu;
const WITHOUT_PARTNERS = 93;
/** Greece separates the registered name and the trading name so. */
const GREEK_TITLE = /\s*\|\|\s*/u;
const SHORT_NAME_ENDS =
  /,\s*(?=[^,]+,\s*(?:j\.?\s?)?(?:d\.\s?o\.\s?o\.|d\.\s?d\.|d\.\s?n\.\s?o\.|k\.\s?d\.|s\.\s?p\.))/iu;
/** What follows the form in the full names of Croatian and Slovenian companies: their trade, their seat. */
const AFTER_FORM =
  /(\b(?:j\.?\s?)?d\.\s?o\.\s?o\.|\bdoo\b|\bd\.\s?d\.|društvo s ograničenom odgovornošću)(?:\s*,|\s+za\b).*$/isu;

/** The readings of a name: as written, its registered part and its trading name. */
const textsOf = (name: string): Reading[] => {
  const readings: Reading[] = [{ text: name, atMost: 100 }];
  const separators: readonly (readonly [RegExp, number])[] = [
    [TRADING_AS, TRADING_NAME],
    [GREEK_TITLE, TRADING_NAME],
    [IN_SHORT, SHORT_NAME],
  ];
  for (const [separator, atMost] of separators) {
    const [registered = '', ...others] = name.split(separator);
    if (others.length === 0 || registered.trim() === '') continue;
    readings.push({ text: registered, atMost: 100 });
    for (const text of others) if (text.trim() !== '') readings.push({ text, atMost });
  }
  const alone = name.replace(PARTNERS, ' ');
  if (alone !== name) readings.push({ text: alone, atMost: WITHOUT_PARTNERS });
  const seat = name.replace(AFTER_FORM, '$1');
  if (seat !== name) readings.push({ text: seat, atMost: 100 });
  const short = seat.split(SHORT_NAME_ENDS);
  if (short.length > 1)
    readings.push({ text: `${short[0]} ${short.at(-1)?.split(',').at(-1) ?? ''}`, atMost: SHORT_NAME });
  return readings;
};

/** Abbreviations with a full stop inside. `\b` knows ASCII only: it would find "cia" in "organizácia". */
const expand = (name: string): string =>
  name
    .replace(/(?<!\p{L})f\.\s?lli(?!\p{L})/giu, 'fratelli')
    .replace(/(?<!\p{L})c\.?[ií]a(?!\p{L})\.?/giu, 'compañía')
    .replace(/(?<!\p{L})v\.?\s?d\.?\s(?=\p{L}{3})/giu, 'van der ');

/** "und" in "GmbH und Co. KG" is the "&" of the table of forms. At either end of a name, "ET" is a sole trader in Bulgaria. */
const canonicalizeForForm = (words: readonly Word[]): Word[] =>
  words.map((word, at) =>
    at > 0 && at < words.length - 1 && ['und', 'et'].includes(spellingOf(word))
      ? { spellings: ['and', 'and', 'and'], abbreviated: false }
      : word,
  );

/** One reading of a name, such as its trading name. */
export type NameReading = {
  /** All words, and those without the legal form, in canonical spelling. */
  words: readonly Word[];
  core: readonly Word[];
  form: string | null;
  /** The highest score that a match with this reading can reach. */
  atMost: number;
};

/** The readings of a name that have words; none for a text of symbols. `memberState` is VIES's code. */
export const readName = (name: string, memberState?: string): NameReading[] =>
  textsOf(name.slice(0, MAX_LENGTH))
    .slice(0, MAX_READINGS)
    .flatMap(({ text, atMost }) => {
      const words = canonicalizeForForm(wordsOf(expand(text)));
      if (words.length === 0) return [];
      const split = splitLegalForm(words, memberState);
      return [{ words, core: canonicalWords(split.words, memberState), form: split.form, atMost }];
    });
