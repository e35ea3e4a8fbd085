import { alignWords } from './align-words.js';
import { CITY_NAMES } from './city-names.js';
import { isUnstated, joinWords, latinize, sameWord, spellingOf, squeeze, type Word, wordsOf } from './fold-text.js';
import { once } from './once.js';

const SAINTS: ReadonlyMap<string, Word> = new Map(
  ['st saint', 'ste sainte', 'sankt saint', 'sint saint'].map((line) => {
    const [short = '', long = ''] = line.split(' ');
    return [short, { spellings: [long, long, long], abbreviated: false }];
  }),
);
const spellOutSaints = (words: readonly Word[]): Word[] => words.map((word) => SAINTS.get(spellingOf(word)) ?? word);

const createIndex = (): ReadonlyMap<string, readonly number[]> => {
  const index = new Map<string, number[]>();
  for (const [city, line] of CITY_NAMES.entries()) {
    for (const name of line.split('|')) {
      for (const key of new Set(joinWords(spellOutSaints(wordsOf(name))).spellings))
        index.set(key, [...(index.get(key) ?? []), city]);
    }
  }
  return index;
};
const cityIndex = once(createIndex);

const citiesNamed = (words: readonly Word[]): readonly number[] =>
  joinWords(words).spellings.flatMap((key) => cityIndex().get(key) ?? []);

/** Words before a city's name that say what it is: Bulgarian гр., Romanian mun., Lithuanian m. sav. */
const KINDS = new Set(
  'gr grad s selo mun municipiul or ors oras orasul com comuna sat m sav miestas r raj nov novads pag pagasts vald linn maakond obec mesto city stadt gemeinde commune gemeente comune town county dimos obshtina obsht obl oblast'.split(
    ' ',
  ),
);

/** A lone letter is an abbreviation only with a full stop: с. is a village, 's- is the beginning of 's-Gravenhage. */
const isKind = (word: Word): boolean =>
  KINDS.has(spellingOf(word)) && (spellingOf(word).length > 1 || word.abbreviated);

/** A city, the words after its name (a river, a region), and its districts where any are named. */
type City = { words: readonly Word[]; qualifier: readonly Word[]; districts: readonly string[] };

const DISTRICT_WORDS =
  /\b(?:mestska cast|m\. ?c\.|linnaosa?|keruelet|kerulet|ker\.|bezirk|arrondissement|sector(?:ul)?|cedex|dzielnica|rajons|rayon|district|mestna cetrt|okres)\b.*$/;
const PROVINCE = /\s*\(?\b[A-Z]{2}\)?$/;

/** Separates "Praha 4 - Michle", "Paris 8e", "Dublin 4", "København K", "Bratislava - mestská časť Ružinov". */
const readCity = (text: string): City => {
  // Italian addresses end with the letters of the province, in capitals.
  const capital = text.trim();
  const withoutProvince =
    /\s/.test(capital) && /\p{Lu}{2,}.*\s\(?[A-Z]{2}\)?$|\s\([A-Z]{2}\)$/u.test(capital)
      ? capital.replace(PROVINCE, '')
      : capital;
  const parenthesis = /\(([^)]*)\)/.exec(withoutProvince)?.[1] ?? '';
  let latin = latinize(withoutProvince.replace(/\([^)]*\)/g, ' ').slice(0, 100));
  const districts: string[] = [];
  const cut = (pattern: RegExp) => {
    const found = pattern.exec(latin)?.[0];
    if (found === undefined || found.trim() === latin.trim()) return;
    latin = latin.replace(pattern, ' ');
    const name = squeeze(found.replace(/cedex/, ''));
    if (name !== '') districts.push(name);
  };
  latin = latin.replace(/^\s*(?:[a-z]{1,2}-)?\d{3,6}(?:\s?[a-z]{2}\b)?\s+(?=[a-z])/, ''); // a postal code in front
  cut(DISTRICT_WORDS);
  cut(/\s[-–/,]\s.*$/); // "Praha 4 - Michle"
  cut(/,.*$/);
  cut(/\s+(?:\d{1,2}\s?(?:er|e|eme|o|a|th)?|[ivx]+)\.?$/); // "Praha 4", "Paris 8e", "Budapest XI."
  const named = wordsOf(latin).filter((word, at, all) => all.length === 1 || at > 1 || !isKind(word));
  const words = spellOutSaints(named);
  const last = words.at(-1);
  // Danish districts are one or two letters: København K, Aarhus C, København SV.
  if (
    words.length > 1 &&
    last &&
    /^(?:[a-z]|nv|sv|oe|vest|nord|syd|ost)$/.test(spellingOf(last)) &&
    citiesNamed(words.slice(0, -1)).length > 0
  ) {
    districts.push(spellingOf(last));
    words.pop();
  }
  return { words, qualifier: wordsOf(parenthesis), districts };
};

const OTHER_DISTRICT = 88;
const WITHOUT_QUALIFIER = 93;
const OTHER_QUALIFIER = 45;
const COST_PER_LETTER = 85;

const scoreQualifiers = (one: readonly Word[], other: readonly Word[]): number => {
  if (one.length === 0 && other.length === 0) return 100;
  if (one.length === 0 || other.length === 0) return WITHOUT_QUALIFIER;
  return alignWords(one, other).pairs.length > 0 ? WITHOUT_QUALIFIER : OTHER_QUALIFIER;
};

const PREPOSITIONS = new Set(
  'an am a an der im in bei b sur sous les aux de del della di do da of upon nad pod ob pri og i n'.split(' '),
);
const isName = (word: Word): boolean => !PREPOSITIONS.has(spellingOf(word));

/** "v.d.H." for the end of "Bad Homburg vor der Höhe". */
const areInitials = (words: readonly Word[], city: readonly Word[]): boolean => {
  const initials = city.map((word) => spellingOf(word)[0]).join('');
  return words.every((word) => spellingOf(word).length > 1 && initials.endsWith(spellingOf(word)));
};

const scoreParts = (one: City, other: City): number => {
  const apart = one.districts.length > 0 && other.districts.length > 0;
  const districts = apart && !one.districts.some((name) => other.districts.includes(name)) ? OTHER_DISTRICT : 100;
  const all = (city: City) => [...city.words, ...city.qualifier];
  if (sameWord(joinWords(all(one)), joinWords(all(other)))) return districts;
  const known = citiesNamed(one.words).filter((city) => citiesNamed(other.words).includes(city));
  const wholeKnown = citiesNamed(all(one)).filter((city) => citiesNamed(all(other)).includes(city));
  if (wholeKnown.length > 0) return districts;
  if (known.length > 0 || sameWord(joinWords(one.words), joinWords(other.words))) {
    return Math.min(districts, scoreQualifiers(one.qualifier, other.qualifier));
  }
  const { pairs, onlyOne, onlyOther } = alignWords(all(one).filter(isName), all(other).filter(isName));
  if (pairs.length === 0) return 0;
  const letters = Math.max(
    squeeze(all(one).map(spellingOf).join(' ')).length,
    squeeze(all(other).map(spellingOf).join(' ')).length,
  );
  const typing = Math.max(0, 100 - (COST_PER_LETTER * pairs.reduce((sum, { cost }) => sum + cost, 0)) / letters);
  if (onlyOne.length > 0 && onlyOther.length > 0) {
    const short = areInitials(onlyOne, all(other)) || areInitials(onlyOther, all(one));
    return Math.min(short ? WITHOUT_QUALIFIER : OTHER_QUALIFIER, typing);
  }
  if (onlyOne.length === 0 && onlyOther.length === 0) return Math.min(districts, typing);
  // "Neustadt" and "Neustadt an der Weinstraße": the first word must agree, else it is "Bad Homburg" and "Bad".
  const firstAgrees = pairs.some((pair) => pair.one === all(one)[0] && pair.other === all(other)[0]);
  return Math.min(
    typing,
    firstAgrees && pairs.every(({ one: word }) => spellingOf(word).length > 3) ? WITHOUT_QUALIFIER : 60,
  );
};

/**
 * How well two names of a city agree, 0 to 100; the order does not matter. Districts that one side leaves out and names in
 * other languages ("Munich") do not matter. 0 where one states nothing. Never throws.
 */
export const scoreCity = (expected: string, found: string): number => {
  if (isUnstated(expected) || isUnstated(found)) return 0;
  const [first, second] = expected < found ? [expected, found] : [found, expected];
  const [one, other] = [readCity(first), readCity(second)];
  if (one.words.length === 0 || other.words.length === 0) return first.trim() === second.trim() ? 100 : 0;
  return Math.round(scoreParts(one, other));
};
