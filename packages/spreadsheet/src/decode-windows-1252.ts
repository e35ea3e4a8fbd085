/** 0x80 to 0x9F; the five bytes without a character stay the control characters that browsers read. */
const HIGH_CONTROLS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';
/** So many arguments a call takes in every engine. */
const CHUNK = 8_192;

/**
 * Text of bytes in Windows-1252; every byte has a character. Our own table, because `TextDecoder('windows-1252')` of
 * Node 20 reads Latin-1 instead (no €, no Š).
 */
export const decodeWindows1252 = (bytes: Uint8Array): string => {
  const units = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte <= 0x9f ? HIGH_CONTROLS.charCodeAt(byte - 0x80) : byte,
  );
  let text = '';
  for (let at = 0; at < units.length; at += CHUNK) text += String.fromCharCode(...units.subarray(at, at + CHUNK));
  return text;
};
