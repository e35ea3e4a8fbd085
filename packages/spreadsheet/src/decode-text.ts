import { type Encoding, invalidCsv } from './batch-file.js';
import { SAVE_AS } from './results-file.js';
import { countBreaks, lineAt } from './scan-rows.js';

/** 0x80 to 0x9F; the five bytes that have no character are control characters here, as browsers read them. */
const HIGH_CONTROLS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';
const UNDEFINED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** So many arguments a call takes in every engine. */
const CHUNK = 8_192;

/**
 * Text of bytes in Windows-1252. Our own table, because `TextDecoder('windows-1252')` of Node 20 reads Latin-1 instead
 * (no €, no Š).
 *
 * @throws AppError INVALID_CSV with the line of a byte that Windows-1252 does not have: such a file is in another code page
 * (Ť, Ź, Ќ and Џ are such bytes in those of Central and Eastern Europe), and its other letters would be garbled in silence
 */
export const decodeWindows1252 = (bytes: Uint8Array): string => {
  const odd = bytes.findIndex((byte) => UNDEFINED.has(byte));
  if (odd !== -1) {
    const line = lineAt(bytes, odd);
    throw invalidCsv(line, `Line ${line} is neither UTF-8 nor Windows-1252. ${SAVE_AS}`);
  }
  const units = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte <= 0x9f ? HIGH_CONTROLS.charCodeAt(byte - 0x80) : byte,
  );
  let text = '';
  for (let at = 0; at < units.length; at += CHUNK) text += String.fromCharCode(...units.subarray(at, at + CHUNK));
  return text;
};

/** Bytes that are looked at: enough for a header and some rows in any script. */
const SAMPLE = 4_096;

/**
 * Whether a file without a byte order mark is UTF-16: digits, delimiters and line breaks have a zero byte then, on the same
 * side each, in Greek and Cyrillic files too. Null when it is not.
 */
const guessUtf16 = (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
  const pairs = Math.min(bytes.length, SAMPLE) >> 1;
  let even = 0;
  let odd = 0;
  for (let pair = 0; pair < pairs; pair += 1) {
    if (bytes[2 * pair] === 0) even += 1;
    if (bytes[2 * pair + 1] === 0) odd += 1;
  }
  if (odd * 5 > pairs && even * 10 < odd) return 'utf-16le';
  if (even * 5 > pairs && odd * 10 < even) return 'utf-16be';
  return null;
};

/** The bytes that may follow as second, by the first; bounds as in Unicode 16, table 3-7. */
const shape = (first: number): { length: number; low: number; high: number } | null => {
  if (first >= 0xc2 && first <= 0xdf) return { length: 2, low: 0x80, high: 0xbf };
  if (first === 0xe0) return { length: 3, low: 0xa0, high: 0xbf };
  if (first === 0xed) return { length: 3, low: 0x80, high: 0x9f };
  if (first >= 0xe1 && first <= 0xef) return { length: 3, low: 0x80, high: 0xbf };
  if (first === 0xf0) return { length: 4, low: 0x90, high: 0xbf };
  if (first >= 0xf1 && first <= 0xf3) return { length: 4, low: 0x80, high: 0xbf };
  if (first === 0xf4) return { length: 4, low: 0x80, high: 0x8f };
  return null;
};

const isCharacter = (bytes: Uint8Array, at: number, { length, low, high }: NonNullable<ReturnType<typeof shape>>) => {
  const second = bytes[at + 1];
  if (second === undefined || second < low || second > high) return false;
  for (let more = 2; more < length; more += 1) {
    const byte = bytes[at + more];
    if (byte === undefined || byte < 0x80 || byte > 0xbf) return false;
  }
  return true;
};

/**
 * How much of the bytes is UTF-8: characters beyond ASCII that are, bytes that cannot be, and where the first of those is
 * (-1 when there is none).
 */
const surveyUtf8 = (bytes: Uint8Array): { characters: number; broken: number; firstBroken: number } => {
  let characters = 0;
  let broken = 0;
  let firstBroken = -1;
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const form = first < 0x80 ? null : shape(first);
    if (form !== null && isCharacter(bytes, at, form)) {
      characters += 1;
      at += form.length;
      continue;
    }
    if (first >= 0x80) {
      if (broken === 0) firstBroken = at;
      broken += 1;
    }
    at += 1;
  }
  return { characters, broken, firstBroken };
};

type DecodedText = { text: string; encoding: Encoding; bom: boolean };

/**
 * The text of a file, without its byte order mark. Without one it is UTF-16 when every other byte is 0, else UTF-8 when
 * that is possible, else Windows-1252.
 *
 * @throws AppError INVALID_CSV, with the line, when the bytes break the encoding that their mark promises, when UTF-8 is
 * broken in a few places only (a file glued together: reading all of it as Windows-1252 would garble every other name),
 * for a byte that Windows-1252 does not have, for a NUL character, which text does not have and Postgres does not keep, and for
 * a file of which a tenth is other control characters.
 */
export const decodeText = (bytes: Uint8Array): DecodedText => {
  const decoded = decode(bytes);
  const nul = decoded.text.indexOf('\0');
  if (nul !== -1) throw notText(decoded.text, nul, 'a NUL character');
  const [controls, first] = countControls(decoded.text);
  if (controls > STRAY_CONTROLS && controls * 10 > decoded.text.length)
    throw notText(decoded.text, first, 'control characters');
  return decoded;
};

/**
 * Control characters that any file may have. Where there are more, and they are a tenth of the text, it is none; in JSON each takes
 * the room of six others, so that a file of them would be 12 MB there.
 */
const STRAY_CONTROLS = 1_000;
const SPACE = 0x20;
/** Tab, LF, VT, FF and CR, which text has. */
const [FIRST_USUAL, LAST_USUAL] = [0x09, 0x0d];

const countControls = (text: string): [count: number, first: number] => {
  let count = 0;
  let first = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= SPACE || (code >= FIRST_USUAL && code <= LAST_USUAL)) continue;
    if (count === 0) first = at;
    count += 1;
  }
  return [count, first];
};

const notText = (text: string, at: number, what: string) => {
  const line = countBreaks(text.slice(0, at)) + 1;
  return invalidCsv(line, `Line ${line} has ${what}: this is not a text file. ${SAVE_AS}`);
};

const decode = (bytes: Uint8Array): DecodedText => {
  if (startsWith(bytes, 0xff, 0xfe)) return decodeUtf16(bytes.subarray(2), 'utf-16le', true);
  if (startsWith(bytes, 0xfe, 0xff)) return decodeUtf16(bytes.subarray(2), 'utf-16be', true);
  if (startsWith(bytes, 0xef, 0xbb, 0xbf)) return decodeBytes(bytes.subarray(3), true);
  const utf16 = guessUtf16(bytes);
  return utf16 === null ? decodeBytes(bytes, false) : decodeUtf16(bytes, utf16, false);
};

const startsWith = (bytes: Uint8Array, ...mark: number[]) => mark.every((byte, index) => bytes[index] === byte);

const decodeUtf16 = (bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be', bom: boolean): DecodedText => {
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
  // Decoding put U+FFFD where half a character was, which is told from a U+FFFD in the file by decoding strictly.
  const broken = isStrictly(bytes, encoding) ? -1 : text.indexOf('\uFFFD');
  if (broken === -1) return { text, encoding, bom };
  const line = countBreaks(text.slice(0, broken)) + 1;
  throw invalidCsv(line, `Line ${line} is not UTF-16, unlike the rest of the file. ${SAVE_AS}`);
};

const isStrictly = (bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): boolean => {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

const decodeBytes = (bytes: Uint8Array, bom: boolean): DecodedText => {
  const { characters, broken, firstBroken } = surveyUtf8(bytes);
  if (broken === 0)
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), encoding: 'utf-8', bom };
  // Two Windows-1252 characters in a row seldom look like one of UTF-8, so a file with more of those is a damaged one.
  if (!bom && characters <= broken) return { text: decodeWindows1252(bytes), encoding: 'windows-1252', bom };
  const line = lineAt(bytes, firstBroken);
  throw invalidCsv(line, `Line ${line} is not UTF-8, unlike the rest of the file. ${SAVE_AS}`);
};

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
