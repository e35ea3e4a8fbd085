import { alignWords, type WordPair } from './align-words.js';
import { isUnstated, joinWords, sameWord, spellingOf, wordsOf } from './fold-text.js';
import { type HouseNumber, readStreet, type Street } from './read-street.js';

const SAME = 1;
const OTHER_LETTER = 0.75;
const WITHOUT_LETTER = 0.85;
const OTHER_PART = 0.88;

/** How two house numbers agree, 0 to 1. A number within the other's range, or one part of a Czech number, agrees. */
const compareNumbers = (one: HouseNumber, other: HouseNumber): number => {
  const shared = one.parts.some((part) => other.parts.includes(part));
  if (one.number !== other.number) {
    const within = (inner: HouseNumber, outer: HouseNumber) =>
      outer.last > outer.number && inner.number >= outer.number && inner.last <= outer.last;
    // "3191/17" is also written "17".
    return within(one, other) || within(other, one) || (shared && (one.parts.length === 1 || other.parts.length === 1))
      ? SAME
      : 0;
  }
  const ranges = one.last > one.number || other.last > other.number;
  if (one.letter !== other.letter && !ranges) {
    // "3/B" and "3B" are the same.
    if (one.parts.join('') === other.parts.join('')) return SAME;
    return one.letter === '' || other.letter === '' ? WITHOUT_LETTER : OTHER_LETTER;
  }
  const differs = one.parts.length > 1 && other.parts.length > 1 && one.parts.join() !== other.parts.join();
  return differs && !ranges ? OTHER_PART : SAME;
};

const OTHER_NUMBER = 0.6;
const NUMBER_MISSING = 0.85;
const ONE_OF_SEVERAL = 0.93;

const scoreNumbers = (ones: readonly HouseNumber[], others: readonly HouseNumber[]): number => {
  if (ones.length === 0 && others.length === 0) return SAME;
  if (ones.length === 0 || others.length === 0) return NUMBER_MISSING;
  let left = [...others];
  let worst = SAME;
  let unmatched = 0;
  for (const one of ones) {
    const best = left
      .map((other) => ({ other, score: compareNumbers(one, other) }))
      .sort((a, b) => b.score - a.score)[0];
    if (!best || best.score === 0) unmatched += 1;
    else {
      left = left.filter((other) => other !== best.other);
      worst = Math.min(worst, best.score);
    }
  }
  if (unmatched > 0 && left.length > 0) return OTHER_NUMBER;
  return Math.min(worst, unmatched + left.length > 0 ? ONE_OF_SEVERAL : SAME);
};

const OTHER_UNIT = 0.88;
const scoreUnits = (ones: readonly string[], others: readonly string[]): number =>
  ones.length === 0 || others.length === 0 || ones.some((unit) => others.includes(unit)) ? SAME : OTHER_UNIT;

const COST_PER_LETTER = 130;
/** One side also names a building, an industrial estate or a part of the town. */
const WITHIN = 0.93;
const OTHER_STREET = 0.6;

const scoreWords = (one: Street, other: Street): number => {
  const [left, right] = [one.words, other.words];
  if (sameWord(joinWords(left), joinWords(right))) return SAME;
  if (left.length === 0 || right.length === 0) return OTHER_STREET / 2;
  const { pairs, onlyOne, onlyOther } = alignWords(left, right);
  const letters = Math.max(joinWords(left).spellings[0].length, joinWords(right).spellings[0].length);
  const typing = Math.max(0, 1 - (COST_PER_LETTER * pairs.reduce((sum, { cost }) => sum + cost, 0)) / 100 / letters);
  if (onlyOne.length > 0 && onlyOther.length > 0) {
    const shared = (2 * pairs.length) / (2 * pairs.length + onlyOne.length + onlyOther.length);
    return OTHER_STREET * shared * typing;
  }
  if (onlyOne.length + onlyOther.length === 0) return typing;
  // A short word within many is a coincidence.
  const isShort = ({ one: word, other: same }: WordPair) =>
    Math.min(spellingOf(word).length, spellingOf(same).length) < 3;
  return pairs.every(isShort) ? OTHER_STREET : WITHIN * typing;
};

const OTHER_TYPE = 0.65;
const scoreTypes = (one: Street, other: Street): number => {
  if (one.types.size === 0 || other.types.size === 0) return SAME;
  return [...one.types].some((type) => other.types.has(type)) ? SAME : OTHER_TYPE;
};

/**
 * How well two streets with house number agree, 0 to 100; the order does not matter. The order of street and number, usual
 * abbreviations, floors and doors that one side leaves out, and a range around the number do not matter. Another house number
 * is at most 60, a missing one at most 85. 0 where one states nothing. Never throws.
 */
export const scoreStreet = (expected: string, found: string): number => {
  if (isUnstated(expected) || isUnstated(found)) return 0;
  const [first, second] = expected < found ? [expected, found] : [found, expected];
  const spelt = [first, second].map((text) => wordsOf(text).map(spellingOf).join(' ').trim());
  if (spelt.every((text) => text === '')) return first.trim() === second.trim() ? 100 : 0;
  if (spelt[0] === spelt[1]) return 100;
  const [one, other] = [readStreet(first), readStreet(second)];
  const parts = [
    scoreWords(one, other),
    scoreTypes(one, other),
    scoreNumbers(one.numbers, other.numbers),
    scoreUnits(one.units, other.units),
  ];
  return Math.round(100 * parts.reduce((product, part) => product * part, 1));
};
