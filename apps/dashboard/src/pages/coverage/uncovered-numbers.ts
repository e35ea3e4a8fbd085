import { COVERAGE_COLUMNS, findColumns, scanRows } from '@vat/spreadsheet';

/** An uncovered number, and the requester that the file names for it; null without one. */
export type Gap = { vatNumber: string; requester: string | null };

/**
 * The uncovered numbers in the results file of a coverage, each once, with the requester of its first line, as `queue_gaps` takes
 * it. Of the columns of the uploaded file only that of the requester matters.
 */
export const uncoveredNumbers = (results: string): Gap[] => {
  // The added columns stand after those of the uploaded file, which alone may reach the limit of uploads.
  const [header = [], ...rows] = [...scanRows(results, ',', { maxColumns: Infinity })].map(({ cells }) => cells);
  const first = header.length - COVERAGE_COLUMNS.length;
  const at = (name: (typeof COVERAGE_COLUMNS)[number]) => first + COVERAGE_COLUMNS.indexOf(name);
  const [requesterAt = -1] = findColumns(header.slice(0, first)).requester;
  const requesters = new Map<string, string>();
  const uncovered = new Set<string>();
  for (const cells of rows) {
    const vatNumber = cells[at('vat_number_read')] ?? '';
    if (vatNumber === '') continue;
    if (!requesters.has(vatNumber)) requesters.set(vatNumber, cells[requesterAt] ?? '');
    if (cells[at('coverage')] !== 'covered') uncovered.add(vatNumber);
  }
  return [...uncovered].map((vatNumber) => ({ vatNumber, requester: requesters.get(vatNumber) || null }));
};
