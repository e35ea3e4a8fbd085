import { latinize, spellingOf, type Word, wordsOf } from './fold-text.js';
import {
  BOX,
  FLOOR_AND_SIDE,
  GENERAL,
  NOISE,
  NUMBER,
  ROMAN_FLOOR,
  replaceSigns,
  SHORT_UNIT,
  TITLE_OF,
  TYPE_OF,
  UNIT,
  UNIT_AFTER,
} from './street-words.js';

/** A house number: `12A` is number 12 with letter a, `12-16` reaches to 16, `525/15` has the parts 525 and 15. */
export type HouseNumber = { number: number; last: number; letter: string; parts: readonly string[] };

/** A street in its parts. `types` are kinds of street, such as `street`, `avenue` and `square`. */
export type Street = {
  words: readonly Word[];
  types: ReadonlySet<string>;
  numbers: readonly HouseNumber[];
  /** Floors, doors, units: letters and digits. */
  units: readonly string[];
};

const readNumber = (text: string): HouseNumber => {
  const compact = text.replace(/\s/g, '');
  const parts = compact.split(/[-/+]/).map((part) => part.replace(/^0+(?=\d)/, ''));
  const number = Number.parseInt(parts[0] ?? '', 10);
  const second = Number.parseInt(parts[1] ?? '', 10);
  const isRange = compact.includes('-') && second > number && second - number < 200;
  return { number, last: isRange ? second : number, letter: parts[0]?.replace(/^\d+/, '') ?? '', parts };
};

const canonicalTitle = (word: Word): Word => {
  const title = TITLE_OF.get(spellingOf(word));
  return title === undefined ? word : { spellings: [title, title, title], abbreviated: false };
};

/** "Hauptstr." is a street with the name "Haupt". */
const SUFFIX = /(?<=.{2})(?:strasser?|straat|str)$/;
const withoutSuffix = (word: Word): Word => {
  if (!SUFFIX.test(spellingOf(word))) return word;
  const [first, second, third] = word.spellings;
  return {
    spellings: [first.replace(SUFFIX, ''), second.replace(SUFFIX, ''), third.replace(SUFFIX, '')],
    abbreviated: false,
  };
};

const read = (text: string, unitsApart: boolean): Street => {
  const units: string[] = [];
  const takeUnit = (_: string, value: string): string => {
    units.push(value.replace(/^(?:no|nr|n)\b\.?/, '').replace(/[^a-z\d]/g, ''));
    return ' ';
  };
  const cut = replaceSigns(text.slice(0, 200));
  let latin = latinize(cut).replace(/[–—]/g, '-').replace(/['’]/g, '');
  const boxless = latin.replace(BOX, ' ');
  // A post-office box is the address itself where there is no street beside it.
  if (/[a-z]{3}/.test(boxless.replace(/\b[a-z]{1,2}\b/g, ''))) latin = latin.replace(BOX, takeUnit);
  if (unitsApart)
    latin = latin
      .replace(ROMAN_FLOOR, takeUnit)
      .replace(FLOOR_AND_SIDE, takeUnit)
      .replace(UNIT_AFTER, takeUnit)
      .replace(UNIT, takeUnit)
      .replace(SHORT_UNIT, takeUnit);
  const numbers = (latin.match(NUMBER) ?? []).map(readNumber);
  // The words come from the original text, because their spellings are compared.
  const remaining = new Set(wordsOf(latin.replace(NUMBER, ' ')).map(spellingOf));
  const types = new Set<string>();
  const words: Word[] = [];
  for (const word of wordsOf(cut.replace(/\p{N}+/gu, ' '))) {
    const spelling = spellingOf(word);
    if (NOISE.has(spelling) || !remaining.has(spelling)) continue;
    const type = TYPE_OF.get(spelling);
    if (type === undefined) words.push(canonicalTitle(withoutSuffix(word)));
    else if (spelling.length > 1) types.add(type);
    if (type === undefined && SUFFIX.test(spelling)) types.add(GENERAL);
  }
  const names = words.filter((word) => spellingOf(word).length > 1);
  return { words: names.length > 0 ? names : words, types, numbers, units };
};

/** Reads a street with its house number, floor and door. Never throws. */
export const readStreet = (text: string): Street => {
  const street = read(text, true);
  // "Rue de la Porte 5": the word for a door is the name itself.
  return street.words.length === 0 && street.units.length > 0 ? read(text, false) : street;
};
