import { readFileSync } from 'node:fs';
import { MEMBER_STATES } from '../member-states.js';
import { figuresAt, type Pair, readPairs, wrongPairs } from './pairs.fixture.js';

const LISTS = ['pairs.tsv', 'pairs-holdout.tsv'] as const;
const document = readFileSync(new URL('../../../../docs/matching.md', import.meta.url), 'utf8');

const percent = (figure: number): string => `${figure.toFixed(1)} %`;

const row = (label: string, pairs: readonly Pair[]): string => {
  const same = pairs.filter((pair) => pair.same).length;
  const [at90, at70] = [figuresAt(pairs, 90), figuresAt(pairs, 70)];
  const figures = [at90.precision, at90.recall, at70.precision, at70.recall].map(percent);
  return `| ${[label, pairs.length, same, pairs.length - same, ...figures].join(' | ')} |`;
};

describe.each(LISTS)('%s', (list) => {
  const pairs = readPairs(list);

  test('the figures in docs/matching.md are those of the pairs', () => {
    const rows = [row(`\`${list}\``, pairs)];
    for (const part of ['name', 'street', 'postal_code', 'city']) {
      rows.push(
        row(
          `… ${part}`,
          pairs.filter((pair) => pair.part === part),
        ),
      );
    }
    expect(document).toContain(rows.join('\n'));
  });

  test('docs/matching.md lists every pair with a score on the wrong side', () => {
    const unlisted = wrongPairs(pairs).filter(
      ({ expected, found }) => !document.includes(`| ${expected} | ${found} |`),
    );
    expect(unlisted).toEqual([]);
  });

  test('no pair occurs twice, and every member state occurs', () => {
    const keys = pairs.map(({ part, state, expected, found }) => [part, state, expected, found].join('\t'));
    expect(new Set(keys).size).toBe(keys.length);
    expect(MEMBER_STATES.filter((state) => !pairs.some((pair) => pair.state === state))).toEqual([]);
  });
});

test('the figures do not fall below what is promised', () => {
  const pairs = readPairs('pairs.tsv');
  expect(figuresAt(pairs, 90).precision).toBeGreaterThanOrEqual(99);
  expect(figuresAt(pairs, 90).recall).toBeGreaterThanOrEqual(99);
  expect(figuresAt(pairs, 70).recall).toBeGreaterThanOrEqual(99);
  const holdout = readPairs('pairs-holdout.tsv');
  expect(figuresAt(holdout, 90).precision).toBeGreaterThanOrEqual(98);
  expect(figuresAt(holdout, 90).recall).toBeGreaterThanOrEqual(95);
  // Only pairs that the lists call near reach 70 without being the same.
  expect([...pairs, ...holdout].filter(({ same, below, score }) => !same && below === 70 && score >= 70)).toEqual([]);
});
