import type { AppError } from '@vat/domain/errors';
import { invalidCsv } from './batch-file.js';
import { openArchive } from './xlsx/archive.js';
import { invalidFile } from './xlsx/invalid-file.js';

export type Format = 'csv' | 'xlsx';

/** The first bytes of formats that are no spreadsheet, one character for each byte, and their names for a person. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['%PDF-', 'a PDF document'],
  ['{\\rtf', 'a Rich Text document'],
  ['\x1f\x8b', 'a compressed file (.gz)'],
  ['\x89PNG', 'a picture'],
  ['\xff\xd8\xff', 'a picture'],
];

/** Formats by the beginning of their text: the "Excel export" of many programs is an HTML table, and programs send JSON. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|meta|table|\?xml|!--)/i, 'a web page or XML, whatever its name says'],
  [/^(?:\xef\xbb\xbf)?\s*(?:\[\s*[[{"]|\{\s*")/, 'JSON'],
];

const ZIP = 'PK\x03\x04';
const EMPTY_ZIP = 'PK\x05\x06';
/** A compound file: an .xls workbook, or an .xlsx workbook with a password. */
const COMPOUND = '\xd0\xcf\x11\xe0';
/** The name of the part with the encrypted workbook, in UTF-16. */
const ENCRYPTED_PACKAGE = [...'EncryptedPackage'].join('\0');

/** Formats in a zip archive, by the first bytes of the archive. */
const BY_FRONT: readonly (readonly [RegExp, string])[] = [
  [/mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/, 'an OpenDocument spreadsheet (.ods)'],
  [/Index\/[\w/-]{1,100}\.iwa/, 'a Numbers spreadsheet (.numbers)'],
];

/** Formats in a zip archive, by the names of its parts. */
const BY_NAMES: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)workbook\.bin$/i, 'a binary Excel workbook (.xlsb)'],
  [/^word\//i, 'a Word document'],
  [/^ppt\//i, 'a presentation'],
];

const OFFICE_PARTS = /\[Content_Types\]\.xml|_rels\/|docProps\/|xl\//;

const saveAs = (format: string): AppError =>
  invalidFile(`This is ${format}: open it and save it as an Excel workbook (.xlsx) or as CSV (UTF-8).`);

/** @throws AppError INVALID_FILE for an archive that is not an .xlsx workbook */
const checkArchive = (bytes: Uint8Array, front: string): void => {
  const [, byFront] = BY_FRONT.find(([mark]) => mark.test(front)) ?? [];
  if (byFront !== undefined) throw saveAs(byFront);
  const zip = 'a ZIP archive, but not an Excel workbook';
  let names: readonly string[];
  try {
    ({ names } = openArchive(bytes));
  } catch (error) {
    throw OFFICE_PARTS.test(front) ? error : saveAs(zip);
  }
  const [, byNames] = BY_NAMES.find(([mark]) => names.some((name) => mark.test(name))) ?? [];
  if (byNames !== undefined) throw saveAs(byNames);
  if (!names.some((name) => OFFICE_PARTS.test(name))) throw saveAs(zip);
};

/** Whether a file is a zip archive, as every .xlsx workbook is. */
export const isArchive = (bytes: Uint8Array): boolean => [...ZIP].every((mark, at) => bytes[at] === mark.charCodeAt(0));

/**
 * Finds the format of a file by its content, whatever its name says.
 *
 * @throws AppError INVALID_FILE for other workbooks and archives, and INVALID_CSV on line 1 for other formats that are often
 * uploaded, with a message that names the format and what to do
 */
export const detectFormat = (bytes: Uint8Array): Format => {
  const front = String.fromCharCode(...bytes.subarray(0, 2_048));
  if (front.startsWith(ZIP)) {
    checkArchive(bytes, front);
    return 'xlsx';
  }
  if (front.startsWith(EMPTY_ZIP)) throw saveAs('an empty ZIP archive');
  if (front.startsWith(COMPOUND)) {
    if (new TextDecoder('latin1').decode(bytes).includes(ENCRYPTED_PACKAGE))
      throw invalidFile(
        'The workbook is protected with a password. In Excel, remove it under File → Info → Protect Workbook → Encrypt with Password, and save the file.',
      );
    throw saveAs('an old Excel workbook (.xls)');
  }
  const [, other] = TEXTS.find(([mark]) => mark.test(front)) ?? OTHERS.find(([mark]) => front.startsWith(mark)) ?? [];
  if (other !== undefined)
    throw invalidCsv(
      1,
      `This is ${other}, not CSV: open it and save it as CSV (UTF-8) or as an Excel workbook (.xlsx).`,
    );
  return 'csv';
};
