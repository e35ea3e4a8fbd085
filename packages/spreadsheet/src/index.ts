export type { BatchFile, Repair, RepairKind } from './batch-file.js';
export { type CsvCell, type CsvDelimiter, csvRow } from './cells.js';
export { decodeWindows1252 } from './decode-text.js';
export { readBatchFile } from './read-batch-file.js';
export { type CoverageFile, readCoverageFile } from './read-coverage-file.js';
export { COVERAGE_COLUMNS, type LineResult, RESULT_COLUMNS, resultsFile } from './results-file.js';
