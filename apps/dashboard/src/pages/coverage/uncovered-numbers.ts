import { COVERAGE_COLUMNS, scanRows } from '@vat/spreadsheet';

/** The uncovered numbers in the results file of a coverage, each once. The columns of the uploaded file do not matter. */
export const uncoveredNumbers = (results: string): string[] => {
  // The added columns stand after those of the uploaded file, which alone may reach the limit of uploads.
  const [header, ...rows] = [...scanRows(results, ',', { maxColumns: Infinity })].map(({ cells }) => cells);
  const first = (header?.length ?? 0) - COVERAGE_COLUMNS.length;
  const at = (name: (typeof COVERAGE_COLUMNS)[number]) => first + COVERAGE_COLUMNS.indexOf(name);
  const numbers = rows.flatMap((cells) =>
    cells[at('coverage')] === 'covered' ? [] : (cells[at('vat_number_read')] ?? []),
  );
  return [...new Set(numbers)].filter((number) => number !== '');
};
