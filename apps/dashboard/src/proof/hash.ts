/** Decodes hex; null when the text is not hex. */
export const bytesOf = (hex: string): Uint8Array<ArrayBuffer> | null =>
  /^(?:[0-9a-f]{2})*$/i.test(hex) ? Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) : null;

/** Encodes bytes as lowercase hex. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** SHA-256 by Web Crypto. */
export const sha256By =
  (crypto: typeof globalThis.crypto) =>
  async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

/**
 * The RFC 8785 form of a value of the hash profile `jcs-sha256-v1`. Its keys are `[a-z0-9_]` and its numbers are integers, so
 * sorting by code unit and `JSON.stringify` already give the canonical form.
 */
export const canonicalForm = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalForm(member)}`);
  return `{${members.join(',')}}`;
};
