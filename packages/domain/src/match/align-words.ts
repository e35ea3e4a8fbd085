import { joinWords, sameWord, type Word } from './fold-text.js';

/** The least number of insertions, deletions, replacements and transpositions of neighbours (optimal string alignment). */
export const editDistance = (one: string, other: string): number => {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      let least = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
};

/** What a difference within a pair of words costs, in letters. */
export type WordPair = { one: Word; other: Word; cost: number };
type Alignment = { pairs: WordPair[]; onlyOne: Word[]; onlyOther: Word[]; transposed: boolean };

const ROMAN = new Map(
  ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x'].map((numeral, at) => [numeral, `${at + 1}`]),
);
const HAS_DIGIT = /\p{N}/u;
/** The number that a word is; "V." is an initial, not five. */
const asNumber = ({ spellings: [spelling], abbreviated }: Word): string | null =>
  (abbreviated ? undefined : ROMAN.get(spelling)) ??
  (HAS_DIGIT.test(spelling) ? spelling.replace(/^0+(?=.)/, '') : null);

/** Letters of difference up to which two words of this length are spellings of one word. */
const tolerance = (length: number): number => (length < 4 ? 0 : length < 8 ? 1 : length < 14 ? 2 : 3);

/** Lengths below which a word is short and from which it is long, in letters. */
const SHORT = 6;
const LONG = 8;
const OTHER_VOWEL = 0.5;
const OTHER_VOWEL_IN_SHORT = 2;
const OTHER_FIRST_LETTER = 3;
const IN_SHORT_WORD = 0.5;
const ABBREVIATION_COST = 0.3;
const INITIAL_COST = 1;

const spellingCost = (one: string, other: string): number | null => {
  const length = Math.max(one.length, other.length);
  const limit = tolerance(length);
  if (Math.abs(one.length - other.length) > limit) return null;
  // ue, oe, ae and aa for a vowel with diacritics whose other spelling has lost them.
  const collapse = (spelling: string) =>
    spelling.replace(/([aou])e|aa/g, (_, vowel: string | undefined) => vowel ?? 'a');
  if (collapse(one) === collapse(other)) return length < SHORT ? OTHER_VOWEL_IN_SHORT : OTHER_VOWEL;
  const distance = editDistance(one, other);
  if (distance > limit) return null;
  // A different first letter is rarely a typing error (Hansen and Jansen), and in a short word no difference is a small one.
  return distance + (one[0] === other[0] ? 0 : OTHER_FIRST_LETTER) + (length < LONG ? IN_SHORT_WORD : 0);
};

const isAbbreviationOf = (short: Word, long: Word): boolean =>
  short.abbreviated &&
  short.spellings[0].length >= 3 &&
  long.spellings.some((spelling, at) => spelling.startsWith(short.spellings[at] ?? short.spellings[0]));

const isInitialOf = (short: Word, long: Word): boolean =>
  short.spellings[0].length === 1 &&
  long.spellings[0].length > 2 &&
  long.spellings.some((s) => s[0] === short.spellings[0]);

/** What it costs to take two words for one, in letters; null when they are different words. Numbers are never similar. */
const wordCost = (one: Word, other: Word): number | null => {
  if (sameWord(one, other)) return 0;
  const numbers = [asNumber(one), asNumber(other)];
  if (numbers[0] !== null || numbers[1] !== null) return numbers[0] === numbers[1] ? 0 : null;
  if (isAbbreviationOf(one, other) || isAbbreviationOf(other, one)) return ABBREVIATION_COST;
  if (isInitialOf(one, other) || isInitialOf(other, one)) return INITIAL_COST;
  let least: number | null = null;
  for (const [at, spelling] of one.spellings.entries()) {
    const cost = spellingCost(spelling, other.spellings[at] ?? '');
    if (cost !== null && (least === null || cost < least)) least = cost;
  }
  return least;
};

/** Joins neighbours of `words` that `others` write as one word. */
const joinNeighbours = (words: readonly Word[], others: readonly Word[]): Word[] => {
  const joined: Word[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as Word;
    const next = words[at + 1];
    const both = next && !others.some((other) => sameWord(other, word)) ? joinWords([word, next]) : null;
    if (both && others.some((other) => sameWord(other, both))) {
      joined.push(both);
      at += 1;
    } else joined.push(word);
  }
  return joined;
};

/**
 * Pairs the words of two texts, equal ones first, then the cheapest. `transposed`: pairs cross. At most 40 words
 * of each are compared.
 */
export const alignWords = (ones: readonly Word[], others: readonly Word[]): Alignment => {
  const left = joinNeighbours(ones.slice(0, 40), others);
  const right = joinNeighbours(others.slice(0, 40), left);
  const candidates: { i: number; j: number; cost: number }[] = [];
  for (const [i, one] of left.entries()) {
    for (const [j, other] of right.entries()) {
      const cost = wordCost(one, other);
      if (cost !== null) candidates.push({ i, j, cost });
    }
  }
  candidates.sort((a, b) => a.cost - b.cost || Math.abs(a.i - a.j) - Math.abs(b.i - b.j) || a.i - b.i || a.j - b.j);
  const partner = new Map<number, { j: number; cost: number }>();
  const taken = new Set<number>();
  for (const { i, j, cost } of candidates) {
    if (partner.has(i) || taken.has(j)) continue;
    partner.set(i, { j, cost });
    taken.add(j);
  }
  const pairs: WordPair[] = [];
  let transposed = false;
  let last = -1;
  for (const [i, one] of left.entries()) {
    const found = partner.get(i);
    if (!found) continue;
    pairs.push({ one, other: right[found.j] as Word, cost: found.cost });
    if (found.j < last) transposed = true;
    last = Math.max(last, found.j);
  }
  return {
    pairs,
    onlyOne: left.filter((_, i) => !partner.has(i)),
    onlyOther: right.filter((_, j) => !taken.has(j)),
    transposed,
  };
};
