export type {
  BatchFile,
  BatchRow,
  Columns,
  Encoding,
  Meaning,
  Repair,
  RepairKind,
} from './batch-file.js';
export { BATCH_LIMITS } from './batch-file.js';
export { type CsvCell, type CsvDelimiter, csvRow } from './cells.js';
export { decodeWindows1252 } from './decode-text.js';
export { readBatchFile } from './read-batch-file.js';
export { type LineResult, RESULT_COLUMNS, type ResultsLayout, resultsFile } from './results-file.js';
