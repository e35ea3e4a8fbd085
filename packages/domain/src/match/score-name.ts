import { alignWords } from './align-words.js';
import { isUnstated, joinWords, sameWord, spellingOf, type Word } from './fold-text.js';
import { isDistinguishing, isLight, isParticle, isSurnamePrefix, isTrade } from './name-words.js';
import { type NameReading, readName } from './read-name.js';
import { compareForms } from './split-legal-form.js';

const lettersIn = (words: readonly Word[]): number => words.reduce((sum, word) => sum + spellingOf(word).length, 0);

/** What a letter of difference costs in a name of one letter, in points of the score; in longer names it costs less. */
const COST_PER_LETTER = 130;
const LIGHT_WORD_COST = 2;
const TRANSPOSED = 96;
/** Names that differ in a word of their own stay below this, those that share most words come nearest to it. */
const OTHER_NAME = 66;
const NAMESAKE = 78;
/** Names of one word that differ in a particle, or names with and without "van". */
const OTHER_SURNAME = 88;

const isContent = (word: Word): boolean => !isLight(word);

/** Initials in front of a name that the other side leaves out: "F. Porsche". */
const leadingInitials = (words: readonly Word[], unpaired: readonly Word[]): Word[] => {
  const start = words.findIndex((word) => isContent(word) && spellingOf(word).length > 1);
  return words.slice(0, Math.max(0, start)).filter((word) => unpaired.includes(word) && isContent(word));
};

/** The score of two names without their legal forms. `forms`: at least one of them states one. */
const scoreWords = (ones: readonly Word[], others: readonly Word[], forms: boolean): number => {
  if (sameWord(joinWords(ones), joinWords(others))) return 100;
  const { pairs, onlyOne, onlyOther, transposed } = alignWords(ones, others);
  const leading = [...leadingInitials(ones, onlyOne), ...leadingInitials(others, onlyOther)];
  const extra = [...onlyOne, ...onlyOther].filter((word) => isContent(word) && !leading.includes(word));
  // Two trades are two companies.
  if (extra.length === 0 && onlyOne.some(isTrade) && onlyOther.some(isTrade)) return OTHER_NAME;
  const content = pairs.filter(({ one, other }) => isContent(one) || isContent(other));
  const sum = pairs.reduce((total, { cost }) => total + cost, 0);
  const letters = Math.max(lettersIn(ones.filter(isContent)), lettersIn(others.filter(isContent)), 1);
  const typing = Math.max(0, 1 - (sum * COST_PER_LETTER) / 100 / letters);

  if (extra.length > 0 || content.length === 0) {
    const shared = (2 * content.length) / Math.max(1, 2 * content.length + extra.length);
    // "Jan Kowalski" and "Jan Piotr Kowalski": a second given name, or somebody else.
    const isNamesake = !forms && content.length >= 2 && extra.length === 1 && !extra.some(isDistinguishing);
    return isNamesake ? NAMESAKE * typing : OTHER_NAME * shared * typing;
  }
  const light = onlyOne.length + onlyOther.length;
  const replaced = Math.min(onlyOne.length, onlyOther.length) > 0 ? 12 : 0;
  const missing = [...onlyOne, ...onlyOther];
  const isSurname = missing.some(isSurnamePrefix) || (content.length === 1 && missing.some(isParticle));
  const limit = isSurname ? OTHER_SURNAME : 100;
  const score = Math.min(limit, 100 * typing - Math.min(10, LIGHT_WORD_COST * light) - replaced);
  // Natural persons are registered with either name first.
  return transposed && forms ? Math.min(score, TRANSPOSED) : score;
};

const RELATED_FORM = 0.95;
const DIFFERENT_FORM = 0.85;

/** Sources and accounting programs cut names: the cut name ends inside a word, or is very long. */
const TRUNCATED = 92;
const MIN_CUT_IN_WORD = 24;
const MIN_CUT = 60;
const isCut = (one: NameReading, other: NameReading): boolean => {
  const [short, long] = one.words.length <= other.words.length ? [one, other] : [other, one];
  const [cut, whole] = [short, long].map(({ words }) => words.map(spellingOf).join(' ')) as [string, string];
  // A name that ends with its legal form is complete.
  if (short.form !== null || cut.length < MIN_CUT_IN_WORD || cut.length >= whole.length) return false;
  if (!whole.startsWith(cut)) return false;
  if (whole[cut.length] !== ' ') return true;
  return cut.length >= MIN_CUT && !long.words.slice(short.words.length).some(isDistinguishing);
};

const SOLE_TRADERS = new Set('ek|eu|ei|sp|et|fie|ik|pfa|ev|ev hu|obrt|tmi|enskild|ii|ditta|ii lt'.split('|'));
const isCompany = (form: string | null): boolean => form !== null && !SOLE_TRADERS.has(form);

const scoreReadings = (one: NameReading, other: NameReading, memberState: string | undefined): number => {
  const forms = compareForms(one.form, other.form, memberState);
  const factor = forms === 'equal' ? 1 : forms === 'related' ? RELATED_FORM : DIFFERENT_FORM;
  const score = factor * scoreWords(one.core, other.core, isCompany(one.form) || isCompany(other.form));
  const whole = score < TRUNCATED && isCut(one, other) ? TRUNCATED : score;
  return Math.min(whole, one.atMost, other.atMost);
};

/** Names of characters that no table knows, such as "!!!": equal or not. */
const scoreSymbols = (one: string, other: string): number =>
  one.normalize('NFKC').trim().toLowerCase() === other.normalize('NFKC').trim().toLowerCase() ? 100 : 0;

/**
 * How well two names of a trader agree, 0 to 100; the order does not matter. 100: equal but for spelling, or one leaves the
 * legal form out. 90 or more: the same name. Below 70: another name. 0 where one states nothing. `memberState` is VIES's code
 * of the state that the trader is registered in; it decides which names of a legal form mean the same. Never throws.
 */
export const scoreName = (expected: string, found: string, memberState?: string): number => {
  if (isUnstated(expected) || isUnstated(found)) return 0;
  // A fixed order makes the score symmetric.
  const [one, other] = expected < found ? [expected, found] : [found, expected];
  const [ones, others] = [readName(one, memberState), readName(other, memberState)];
  if (ones.length === 0 || others.length === 0) return scoreSymbols(one, other);
  const scores = ones.flatMap((left) => others.map((right) => scoreReadings(left, right, memberState)));
  return Math.round(Math.max(...scores));
};
