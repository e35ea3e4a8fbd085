import { invalidCsv } from './invalid-csv.js';
import { lineAt } from './line-at.js';
import { SAVE_AS } from './save-as.js';

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
