/** Bytes that are looked at: enough for a header and some rows in any script. */
const SAMPLE = 4_096;

/**
 * Whether a file without a byte order mark is UTF-16: digits, delimiters and line breaks have a zero byte then, on the same
 * side each, in Greek and Cyrillic files too. Null when it is not.
 */
export const guessUtf16 = (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
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
