import type { Encoding } from './batch-file.js';
import { countBreaks } from './count-breaks.js';
import { decodeWindows1252 } from './decode-windows-1252.js';
import { guessUtf16 } from './guess-utf16.js';
import { invalidCsv } from './invalid-csv.js';
import { lineAt } from './line-at.js';
import { SAVE_AS } from './save-as.js';
import { surveyUtf8 } from './survey-utf8.js';

export type DecodedText = { text: string; encoding: Encoding; bom: boolean };

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
