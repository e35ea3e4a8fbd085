import { invalidCsv } from './invalid-csv.js';

/** How such files begin, one character a byte, and how a person knows them. */
const FORMATS: readonly (readonly [string, string])[] = [
  ['\xd0\xcf\x11\xe0', 'an Excel workbook (.xls)'],
  ['%PDF-', 'a PDF document'],
  ['{\\rtf', 'a Rich Text document'],
  ['\x1f\x8b', 'a compressed file (.gz)'],
  ['\x89PNG', 'a picture'],
  ['\xff\xd8\xff', 'a picture'],
  ['PK\x05\x06', 'an empty ZIP archive'],
];

/** Many a program's "Excel export" is a table of a web page. */
const MARKUP = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|meta|table|\?xml|!--)/i;

/** By what lies at the front of the archive. */
const ARCHIVES: readonly (readonly [RegExp, string])[] = [
  [/opendocument\.spreadsheet/, 'an OpenDocument spreadsheet (.ods)'],
  [/Index\/|\.iwa/, 'a Numbers spreadsheet (.numbers)'],
  [/\[Content_Types\]|_rels\/|docProps\/|xl\//, 'an Excel workbook (.xlsx)'],
];

/**
 * Refuses a spreadsheet's own file, and other things that are often uploaded instead of CSV.
 *
 * @throws AppError INVALID_CSV on line 1, with a message that names the format and what to do
 */
export const refuseOtherFormat = (bytes: Uint8Array): void => {
  const front = String.fromCharCode(...bytes.subarray(0, 2_048));
  const format = nameFormat(front);
  if (format !== null) throw invalidCsv(1, `This is ${format}, not CSV: open it and save it as CSV (UTF-8).`);
};

const nameFormat = (front: string): string | null => {
  if (front.startsWith('PK\x03\x04'))
    return ARCHIVES.find(([mark]) => mark.test(front))?.[1] ?? 'a ZIP archive (as an Excel workbook, .xlsx, is one)';
  if (MARKUP.test(front)) return 'a web page or XML, whatever its name says';
  return FORMATS.find(([mark]) => front.startsWith(mark))?.[1] ?? null;
};
