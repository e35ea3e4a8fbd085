import { batchFields, batchLineSchema, batchSchema, lineListQuery } from './batch.js';
import type { Operation } from './operation.js';
import { UPLOAD_ERRORS, uploadOperations } from './upload.js';

const created = {
  batch_id: 'bat_01kafksw1te0a9v6n3r4t7y1bd',
  object: 'batch',
  status: 'queued',
  label: 'Suppliers 2026',
  file_name: 'suppliers.csv',
  total: 3,
  done: 0,
  failed: 0,
  valid: 0,
  invalid: 0,
  eta: '2026-11-20T10:00:05.000Z',
  waiting_for: [],
  created_at: '2026-11-20T10:00:00.000Z',
  completed_at: null,
};

const completed = {
  ...created,
  status: 'completed',
  done: 2,
  failed: 1,
  valid: 1,
  invalid: 1,
  eta: null,
  completed_at: '2026-11-20T10:00:04.512Z',
};

const line = {
  line_id: 'lin_01kafksw1te0a9v6n3r4t7y1be',
  line: 2,
  status: 'done',
  input: 'FR 40 303 265 045',
  vat_number: 'FR40303265045',
  reference: 'S-1001',
  valid: true,
  verdict: 'valid',
  name: 'SA EXEMPLE',
  check_id: 'chk_01kafksw9te0a9v6n3r4t7y1bf',
  error: null,
};

const failedLine = {
  ...line,
  line_id: 'lin_01kafksw1te0a9v6n3r4t7y1bg',
  line: 4,
  status: 'failed',
  input: '12345678',
  vat_number: null,
  valid: null,
  verdict: null,
  name: null,
  check_id: null,
  error: { code: 'BAD_REQUEST', message: 'The number has no country prefix and the row names no country.' },
};

const CSV = `vat_number;reference
FR 40 303 265 045;S-1001
DE123;S-1002
12345678;S-1003
`;

const RESULTS = `vat_number,reference,vat_number,valid,verdict,name,address,consultation_number,check_id,error
FR 40 303 265 045,S-1001,FR40303265045,true,valid,SA EXEMPLE,1 RUE DE LA PAIX 75002 PARIS,,chk_01kafksw9te0a9v6n3r4t7y1bf,
`;

const batches = uploadOperations({
  path: '/v1/batches',
  tag: 'Batches',
  id: 'batch',
  fields: batchFields,
  schema: batchSchema,
  lineSchema: batchLineSchema,
  linesQuery: lineListQuery,
  examples: { created, ended: completed, lines: [line, failedLine], file: CSV, results: RESULTS },
});

/** The operations of batches, for live keys only. */
export const BATCH_OPERATIONS = {
  createBatch: {
    ...batches.create,
    summary: 'Check a file of numbers',
    description:
      'Accepts a CSV file as spreadsheets write it (any usual delimiter and encoding) or an Excel workbook (.xlsx), with or without a header row. The content decides which it is. The file is validated immediately. Its lines are checked in the background, after direct checks, and the event `batch.completed` is sent when all lines have ended. Send the fields in the form or in the query.',
    errors: [...UPLOAD_ERRORS, 'INVALID_REQUESTER'],
  },
  listBatches: { ...batches.list, summary: 'List batches, newest first' },
  getBatch: { ...batches.get, summary: 'Get a batch with its counts' },
  deleteBatch: {
    ...batches.remove,
    summary: 'Delete a completed batch',
    description: 'Deletes the batch and its lines. Its checks are not deleted.',
    errors: ['BATCH_RUNNING'],
  },
  listBatchLines: { ...batches.lines, summary: 'List the lines of a batch, in the order of the file' },
  getBatchResults: {
    ...batches.results,
    summary: 'Download the file with its results',
    description:
      'Returns a header row and one row for each line, in the order of the file: the original cells, followed by the columns of the result. The result columns of a queued line are empty. A cell that a spreadsheet would evaluate as a formula begins with an apostrophe.',
  },
  getBatchWorkbook: {
    ...batches.workbook,
    summary: 'Download the file with its results as an Excel workbook',
    description:
      'Returns the rows and columns of `results.csv` on one sheet, with a header row that stays in view, filters and coloured verdicts. The original cells are texts, so that numbers keep their leading zeros; no cell is a formula. Texts are cut after 32 767 characters.',
  },
} as const satisfies Record<string, Operation>;
