export type { BatchFile, Repair, RepairKind } from './batch-file.js';
export { type CsvDelimiter, csvRow } from './cells.js';
export { decodeWindows1252 } from './decode-text.js';
export { readBatchFile } from './read-batch-file.js';
export { type LineResult, resultsFile } from './results-file.js';
