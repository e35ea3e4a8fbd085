import { type Encoding, invalidCsv } from './batch-file.js';
import { SAVE_AS } from './results-file.js';
import { countBreaks, lineAt } from './scan-rows.js';

/** The characters of 0x80 to 0x9F; the five undefined bytes are control characters here, as in browsers. */
const HIGH_CONTROLS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';
const UNDEFINED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** The number of arguments that a call accepts in every engine. */
const CHUNK = 8_192;

/**
 * Decodes Windows-1252. It has its own table, because `TextDecoder('windows-1252')` of Node 20 reads Latin-1 instead
 * (no €, no Š).
 *
 * @throws AppError INVALID_CSV with the line of a byte that is undefined in Windows-1252: such a file is in another code
 * page (Ť, Ź, Ќ and Џ are such bytes in those of Central and Eastern Europe), and its other letters would be wrong too
 */
export const decodeWindows1252 = (bytes: Uint8Array): string => {
  const invalidAt = bytes.findIndex((byte) => UNDEFINED.has(byte));
  if (invalidAt !== -1) {
    const line = lineAt(bytes, invalidAt);
    throw invalidCsv(line, `Line ${line} is neither UTF-8 nor Windows-1252. ${SAVE_AS}`);
  }
  const units = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte <= 0x9f ? HIGH_CONTROLS.charCodeAt(byte - 0x80) : byte,
  );
  let text = '';
  for (let at = 0; at < units.length; at += CHUNK) text += String.fromCharCode(...units.subarray(at, at + CHUNK));
  return text;
};

/** The number of bytes examined: enough for a header and some rows in any script. */
const SAMPLE = 4_096;

/**
 * Detects UTF-16 in a file without a byte order mark: each digit, delimiter and line break then has a zero byte on
 * the same side, also in Greek and Cyrillic files. Null when the file is not UTF-16.
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

/** The length of a UTF-8 character and the bounds of its second byte, by its first byte (Unicode 16, table 3-7). */
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
  for (let offset = 2; offset < length; offset += 1) {
    const byte = bytes[at + offset];
    if (byte === undefined || byte < 0x80 || byte > 0xbf) return false;
  }
  return true;
};

/**
 * Counts the UTF-8 characters beyond ASCII and the bytes that are not UTF-8. `firstBroken` is the index of the first such
 * byte, -1 when there is none.
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
 * Decodes a file; the text is without byte order mark. A file without one is UTF-16 when every other byte is 0, else
 * UTF-8 if possible, else Windows-1252.
 *
 * @throws AppError INVALID_CSV with the line: when the bytes contradict their byte order mark; when only a few bytes
 * are not UTF-8 (a file joined from several: as Windows-1252 every other name would be wrong); for a byte that is
 * undefined in Windows-1252; for a NUL character, which Postgres cannot store; and when a tenth of the file is other
 * control characters
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
 * The number of control characters that every file may have. A file with more of them, and with more than a tenth, is not
 * text. In JSON each of them takes six characters, so a file of 2 MiB would become 12 MB.
 */
const STRAY_CONTROLS = 1_000;
const SPACE = 0x20;
/** Tab, LF, VT, FF and CR, which are usual in text. */
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
  // Decoding replaces half a character with U+FFFD. Strict decoding distinguishes it from a U+FFFD in the file.
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
  // Two successive Windows-1252 characters are rarely valid UTF-8, so a file with mostly valid characters is damaged
  // UTF-8.
  if (!bom && characters <= broken) return { text: decodeWindows1252(bytes), encoding: 'windows-1252', bom };
  const line = lineAt(bytes, firstBroken);
  throw invalidCsv(line, `Line ${line} is not UTF-8, unlike the rest of the file. ${SAVE_AS}`);
};
