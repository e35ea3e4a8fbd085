import { validateSecurity } from './validate-security.mjs';

const page = (...rows: string[]) =>
  ['# Threat model', '', '## Customer', '', '| attack | what stops it | test |', '|---|---|---|', ...rows].join('\n');
const exists = (file: string) => file === 'apps/api/src/quota.test.ts' || file === 'docs/dependencies.md';

test('a row whose test exists is accepted, and so are tables of other sections', () => {
  const other = ['', '## What is protected', '', '| API keys | a table | hashes |'];
  const row = '| races calls | see `docs/dependencies.md` | `apps/api/src/quota.test.ts` |';
  expect(validateSecurity(page(row, ...other), exists)).toEqual([]);
});

test('a row that names a missing test is rejected', () => {
  expect(validateSecurity(page('| races calls | a lock | `apps/api/src/gone.test.ts` |'), exists)).toEqual([
    'docs/security.md:7  apps/api/src/gone.test.ts does not exist',
  ]);
});

test.each(['nobody', '`apps/api/src/quota.ts`', 'see above'])(
  'a row that names %s instead of a test is rejected',
  (cell) => {
    expect(validateSecurity(page(`| races calls | a lock | ${cell} |`), () => true)).toEqual([
      'docs/security.md:7  no test for: races calls',
    ]);
  },
);
