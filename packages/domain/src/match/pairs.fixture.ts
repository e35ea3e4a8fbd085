import { readFileSync } from 'node:fs';
import { scoreCity } from './score-city.js';
import { scoreName } from './score-name.js';
import { scorePostalCode } from './score-postal-code.js';
import { scoreStreet } from './score-street.js';

/** A line of pairs.tsv or pairs-holdout.tsv. `below`: a `different` pair must score less than this. */
export type Pair = {
  part: Part;
  state: string;
  expected: string;
  found: string;
  same: boolean;
  below: number;
  note: string;
  score: number;
};

const SCORES = { name: scoreName, street: scoreStreet, postal_code: scorePostalCode, city: scoreCity };
type Part = keyof typeof SCORES;
const isPart = (text: string): text is Part => Object.hasOwn(SCORES, text);

const HEADER = 'part\tstate\texpected\tfound\tclass\tbelow\tnote';

/** Reads and scores a list of pairs; throws where a line is not complete. */
export const readPairs = (file: 'pairs.tsv' | 'pairs-holdout.tsv'): Pair[] => {
  const [header, ...lines] = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  if (header !== HEADER) throw new Error(`${file} begins with another header`);
  return lines.map((line) => {
    const [part = '', state = '', expected = '', found = '', verdict = '', below = '', note = '', ...rest] =
      line.split('\t');
    const isKnown = ['same', 'different'].includes(verdict) && /^(?:|70|90)$/.test(below);
    if (!isPart(part) || !isKnown || rest.length > 0 || note === '' || (verdict === 'different') !== (below !== '')) {
      throw new Error(`${file} has an incomplete line: ${line}`);
    }
    const score = SCORES[part](expected, found, state);
    return { part, state, expected, found, same: verdict === 'same', below: Number(below), note, score };
  });
};

export type Figures = { precision: number; recall: number };

/** Precision and recall, in per cent with one decimal, when scores from `threshold` on count as "same". */
export const figuresAt = (pairs: readonly Pair[], threshold: number): Figures => {
  const matched = pairs.filter(({ score }) => score >= threshold);
  const right = matched.filter(({ same }) => same).length;
  const share = (part: number, whole: number) => Math.round((1000 * part) / whole) / 10;
  return { precision: share(right, matched.length), recall: share(right, pairs.filter(({ same }) => same).length) };
};

/** The pairs whose score is on the wrong side: "same" below 90, "different" not below its limit. */
export const wrongPairs = (pairs: readonly Pair[]): Pair[] =>
  pairs.filter(({ same, score, below }) => (same ? score < 90 : score >= below));
