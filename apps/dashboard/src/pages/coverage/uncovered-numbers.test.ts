import { COVERAGE_COLUMNS, resultsFile } from '@vat/spreadsheet';
import { uncoveredNumbers } from './uncovered-numbers.js';

/** The results of a file with so many columns, and these lines. */
const resultsOf = (width: number, lines: { coverage: string; vat_number_read: string | null }[]): string => {
  const file = resultsFile({ columns: COVERAGE_COLUMNS, header: null, width });
  const none = { supply_date_read: null, check_id: null, checked_at: null };
  const rows = lines.map((line) =>
    file.row(['a, "b"'], { ...none, age_days: null, evidence_grade: null, error: null, ...line }),
  );
  return [file.header(), ...rows].join('');
};

test.each([1, 992, 993, 1_000])('the uncovered numbers of a file with %i columns are found, each once', (width) => {
  const results = resultsOf(width, [
    { coverage: 'covered', vat_number_read: 'FR40303265045' },
    { coverage: 'missing', vat_number_read: 'ATU33803803' },
    { coverage: 'missing', vat_number_read: null },
    { coverage: 'stale', vat_number_read: 'IT00159560366' },
    { coverage: 'weak', vat_number_read: 'ATU33803803' },
  ]);
  expect(uncoveredNumbers(results)).toEqual(['ATU33803803', 'IT00159560366']);
});
