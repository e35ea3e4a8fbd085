import { decodeWindows1252 } from '@vat/spreadsheet';
import { refuseUpload, type Upload } from './upload.js';

const MARKS = {
  utf8: Buffer.from([0xef, 0xbb, 0xbf]),
  utf16le: Buffer.from([0xff, 0xfe]),
  utf16be: Buffer.from([0xfe, 0xff]),
} as const;

/** The supported names of charsets. As in browsers, Latin-1 means Windows-1252. */
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
 * Adds a byte order mark for the charset that the caller declared. A mark in the file takes precedence. Without a declared
 * charset the bytes are returned unchanged, and the reader detects the encoding.
 * Throws BAD_REQUEST for a charset that is not supported, and INVALID_CSV for bytes that are undefined in Windows-1252.
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
