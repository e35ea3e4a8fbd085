/** Bytes from parts: strings have one byte for each character (Latin-1), numbers are bytes. */
export const raw = (...parts: readonly (string | number)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...Buffer.from(part, 'latin1')])));

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** UTF-16, little-endian by default; a byte order mark is part of the text. */
export const utf16 = (text: string, endian: 'little' | 'big' = 'little'): Uint8Array => {
  const bytes = Buffer.from(text, 'utf16le');
  return Uint8Array.from(endian === 'little' ? bytes : bytes.swap16());
};
