import { readFileSync } from 'node:fs';
import { findMissingFiles, findUnlistedTables, findUntestedAttacks } from './validate-documents.mjs';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const page = (...rows: string[]) =>
  ['# Threat model', '', '## Customer', '', '| attack | what stops it | test |', '|---|---|---|', ...rows].join('\n');

test('an attack with a test is accepted, and so are tables of other sections', () => {
  const other = ['', '## What is protected', '', '| API keys | a table | hashes |'];
  const row = '| races calls | see `docs/dependencies.md` | `apps/api/src/quota.test.ts` |';
  expect(findUntestedAttacks(page(row, ...other))).toEqual([]);
});

test.each(['nobody', '`apps/api/src/quota.ts`', 'see above'])(
  'an attack with %s instead of a test is rejected',
  (cell) => {
    expect(findUntestedAttacks(page(`| races calls | a lock | ${cell} |`))).toEqual([
      'docs/security.md:7  no test for: races calls',
    ]);
  },
);

test('a named file that does not exist is rejected; patterns and paths of the API are not files', () => {
  const text = 'See `docs/a.md`, `scripts/*.mjs` and `/v1/x.json`.\nThen `apps/api/src/gone.test.ts`.';
  expect(findMissingFiles('docs/x.md', text, (file) => file === 'docs/a.md')).toEqual([
    'docs/x.md:2  apps/api/src/gone.test.ts does not exist',
  ]);
});

test('a table whose rows are stored for an unknown time is found', () => {
  const guide =
    '# O\n\n## Data that grows\n\n| table | grows with |\n|---|---|\n| `a`, `b` | `c` |\n\n## Evidence\n\n| `d` | |';
  const schema = ['a', 'b', 'c', 'd'].map((table) => `@@map("${table}")`).join('\n');
  expect(findUnlistedTables(schema, guide)).toEqual(['c', 'd']);
});

test('the operations guide says for every table how long its rows are stored', () => {
  expect(findUnlistedTables(read('prisma/schema.prisma'), read('docs/operations.md'))).toEqual([]);
});
