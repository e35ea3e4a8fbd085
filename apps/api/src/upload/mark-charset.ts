import { decodeWindows1252 } from '@vat/spreadsheet';
import type { Upload } from './upload.js';
import { refuseUpload } from './upload.js';

const MARKS = {
  utf8: Buffer.from([0xef, 0xbb, 0xbf]),
  utf16le: Buffer.from([0xff, 0xfe]),
  utf16be: Buffer.from([0xfe, 0xff]),
} as const;

/** What callers name, as the web reads it: Latin-1 is Windows-1252. */
const CHARSETS: ReadonlyMap<string, keyof typeof MARKS | 'windows1252'> = new Map([
  ['utf-8', 'utf8'],
  ['utf8', 'utf8'],
  ['us-ascii', 'utf8'],
  ['utf-16', 'utf16le'],
  ['utf-16le', 'utf16le'],
  ['utf-16be', 'utf16be'],
  ['windows-1252', 'windows1252'],
  ['cp1252', 'windows1252'],
  ['iso-8859-1', 'windows1252'],
  ['latin1', 'windows1252'],
]);

/**
 * The bytes of a file in a form that is told by its byte order mark, where the caller declared a charset and the file has
 * no mark of its own, which wins. Without a word from either the bytes stay as they are, to be guessed.
 * Throws BAD_REQUEST for a charset that we do not read, and INVALID_CSV for bytes that Windows-1252 does not have.
 */
export const markCharset = ({ bytes, charset }: Pick<Upload, 'bytes' | 'charset'>): Buffer => {
  if (charset === null) return bytes;
  const known = CHARSETS.get(charset);
  if (known === undefined) {
    throw refuseUpload('Content-Type', 'The charset is utf-8, utf-16le, utf-16be or windows-1252');
  }
  const marked = Object.values(MARKS).some((mark) => bytes.subarray(0, mark.length).equals(mark));
  if (marked || bytes.length === 0) return bytes;
  const [mark, text] =
    known === 'windows1252' ? [MARKS.utf8, Buffer.from(decodeWindows1252(bytes), 'utf8')] : [MARKS[known], bytes];
  return Buffer.concat([mark, text]);
};
