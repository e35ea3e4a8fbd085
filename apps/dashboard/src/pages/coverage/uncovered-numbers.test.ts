import { COVERAGE_COLUMNS, resultsFile } from '@vat/spreadsheet';
import { uncoveredNumbers } from './uncovered-numbers.js';

type Line = { coverage: string; vat_number_read: string | null; cells?: string[] };

/** The results of a file with this header, or without one and with so many columns, and these lines. */
const resultsOf = (columns: number | string[], lines: Line[]): string => {
  const [header, width] = typeof columns === 'number' ? [null, columns] : [columns, columns.length];
  const file = resultsFile({ columns: COVERAGE_COLUMNS, header, width });
  const none = { supply_date_read: null, check_id: null, checked_at: null };
  const rows = lines.map(({ cells = ['a, "b"'], ...line }) =>
    file.row(cells, { ...none, age_days: null, evidence_grade: null, error: null, ...line }),
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
  expect(uncoveredNumbers(results)).toEqual([
    { vatNumber: 'ATU33803803', requester: null },
    { vatNumber: 'IT00159560366', requester: null },
  ]);
});

test('a number has the requester of its first line, which names its column as in a batch', () => {
  const results = resultsOf(
    ['USt-IdNr', 'Eigene USt-IdNr', 'Datum'],
    [
      { coverage: 'covered', vat_number_read: 'ATU33803803', cells: ['ATU33803803', 'DE136695976'] },
      { coverage: 'weak', vat_number_read: 'ATU33803803', cells: ['ATU33803803', 'FR40303265045'] },
      { coverage: 'missing', vat_number_read: 'IT00159560366', cells: ['IT00159560366', ''] },
    ],
  );
  expect(uncoveredNumbers(results)).toEqual([
    { vatNumber: 'ATU33803803', requester: 'DE136695976' },
    { vatNumber: 'IT00159560366', requester: null },
  ]);
});
