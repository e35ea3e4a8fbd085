import { coverageFields, coverageLineSchema, coverageLinesQuery, coverageSchema } from './coverage.js';
import { documentQuery } from './lists.js';
import { download, type Operation } from './operation.js';
import { UPLOAD_ERRORS, uploadOperations } from './upload.js';

const coverage = {
  coverage_id: 'cov_01kafksw1te0a9v6n3r4t7y1bd',
  object: 'coverage',
  label: 'Supplies of October 2026',
  file_name: 'supplies.csv',
  max_age_days: 30,
  min_grade: 'basic',
  total: 3,
  covered: 1,
  stale: 1,
  weak: 0,
  invalid: 0,
  missing: 1,
  batch_id: null,
  created_at: '2026-11-20T10:00:00.000Z',
};

const covered = {
  line_id: 'lin_01kafksw1te0a9v6n3r4t7y1be',
  line: 2,
  status: 'covered',
  input: 'FR 40 303 265 045',
  vat_number: 'FR40303265045',
  supply_date: '2026-10-14',
  reference: 'R-1001',
  check_id: 'chk_01kafksw9te0a9v6n3r4t7y1bf',
  checked_at: '2026-10-02T08:15:30.120Z',
  evidence_grade: 'named',
  error: null,
};

const missing = {
  ...covered,
  line_id: 'lin_01kafksw1te0a9v6n3r4t7y1bg',
  line: 4,
  status: 'missing',
  input: 'DE 136 695 976',
  vat_number: 'DE136695976',
  reference: 'R-1003',
  check_id: null,
  checked_at: null,
  evidence_grade: null,
};

const CSV = `vat_number;supply_date;reference
FR 40 303 265 045;14.10.2026;R-1001
ATU33803803;2026-10-20;R-1002
DE 136 695 976;14/10/2026;R-1003
`;

const RESULTS = `vat_number,supply_date,reference,coverage,vat_number_read,supply_date_read,check_id,checked_at,age_days,evidence_grade,error
FR 40 303 265 045,14.10.2026,R-1001,covered,FR40303265045,2026-10-14,chk_01kafksw9te0a9v6n3r4t7y1bf,2026-10-02T08:15:30.120Z,12,named,
`;

const coverages = uploadOperations({
  path: '/v1/coverage',
  tag: 'Coverage',
  id: 'coverage',
  fields: coverageFields,
  schema: coverageSchema,
  lineSchema: coverageLineSchema,
  linesQuery: coverageLinesQuery,
  examples: { created: coverage, ended: coverage, lines: [covered, missing], file: CSV, results: RESULTS },
});

/** The operations of coverages, for live keys only. */
export const COVERAGE_OPERATIONS = {
  createCoverage: {
    ...coverages.create,
    summary: 'Find out whether every supply was checked in time',
    description:
      'Accepts a CSV file or an Excel workbook (.xlsx) as `POST /v1/batches` does, with a column of supply dates: `2026-12-31`, or the day first as in `31.12.2026`, `31/12/2026` and `31-12-2026`, or a date of the workbook. A date with the month first is refused with its line. Each line is compared with the recorded live checks of its number; no VAT number is looked up unless `queue_gaps` makes a batch of the uncovered ones. Days are days in UTC. Send the fields in the form or in the query.',
    errors: [...UPLOAD_ERRORS, 'MISSING_SUPPLY_DATE'],
  },
  listCoverages: { ...coverages.list, summary: 'List coverages, newest first' },
  getCoverage: { ...coverages.get, summary: 'Get a coverage with its counts' },
  deleteCoverage: {
    ...coverages.remove,
    summary: 'Delete a coverage',
    description: 'Deletes the coverage and its lines. Its checks and its batch are not deleted.',
  },
  listCoverageLines: { ...coverages.lines, summary: 'List the lines of a coverage, in the order of the file' },
  getCoverageResults: {
    ...coverages.results,
    summary: 'Download the file with the result of every line',
    description:
      'Returns a header row and one row for each line, in the order of the file: the original cells, followed by the columns of the result. A cell that a spreadsheet would evaluate as a formula begins with an apostrophe.',
  },
  getCoverageWorkbook: {
    ...coverages.workbook,
    summary: 'Download the result of every line as an Excel workbook',
    description: 'Returns the rows and columns of `results.csv` as `GET /v1/batches/{id}/results.xlsx` does.',
  },
  getCoverageReport: {
    ...coverages.get,
    path: '/v1/coverage/{id}/report.pdf',
    summary: 'Get the report of a coverage',
    description: 'A page with the totals and the rules, followed by the supplies that are not covered.',
    query: documentQuery,
    success: download('The report.', 'application/pdf'),
  },
} as const satisfies Record<string, Operation>;
