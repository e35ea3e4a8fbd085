export type {
  BatchFile,
  BatchRow,
  Columns,
  Encoding,
  Meaning,
  Repair,
  RepairKind,
} from './batch-file.js';
export { BATCH_LIMITS } from './batch-limits.js';
export { type CsvCell, type CsvDelimiter, csvRow } from './csv-row.js';
export { decodeWindows1252 } from './decode-windows-1252.js';
export { readBatchFile } from './read-batch-file.js';
export { RESULT_COLUMNS } from './result-columns.js';
export { type LineResult, type ResultsLayout, resultsFile } from './results-file.js';
