export type { BatchFile, Repair, RepairKind } from './batch-file.js';
export { type CsvCell, type CsvDelimiter, csvRow } from './cells.js';
export { decodeWindows1252 } from './decode-text.js';
export { type Format, isArchive } from './detect-format.js';
export { findColumns } from './find-columns.js';
export { type ReadOptions, readBatchFile } from './read-batch-file.js';
export { type CoverageFile, readCoverageFile } from './read-coverage-file.js';
export {
  COVERAGE_COLUMNS,
  type LineResult,
  RESULT_COLUMNS,
  type ResultsWriter,
  resultsFile,
} from './results-file.js';
export { scanRows } from './scan-rows.js';
export { namingErrors } from './xlsx/invalid-file.js';
export { readSheetNames } from './xlsx/read-workbook.js';
export { resultsWorkbook } from './xlsx/results-workbook.js';
