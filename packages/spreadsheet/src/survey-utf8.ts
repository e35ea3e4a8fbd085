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
export const surveyUtf8 = (bytes: Uint8Array): { characters: number; broken: number; firstBroken: number } => {
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
