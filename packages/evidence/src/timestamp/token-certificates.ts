/** `at`, `start`, `end`, `next`: where it begins, where its content does and ends, and where what follows it begins. */
type Element = { tag: number; at: number; start: number; end: number; next: number };

const SEQUENCE = 0x30;
/** `[0]`, constructed: ContentInfo's content, and the certificates of SignedData. */
const CONTEXT_0 = 0xa0;
const OPEN_LENGTH = 0x80;

/** The element at `at`; lengths may be left open, as some authorities do. Throws a RangeError where there is none. */
const elementAt = (bytes: Buffer, at: number): Element => {
  const tag = bytes.readUInt8(at);
  const first = bytes.readUInt8(at + 1);
  let start = at + 2;
  if (first === OPEN_LENGTH) {
    let end = start;
    while (bytes.readUInt16BE(end) !== 0) end = elementAt(bytes, end).next;
    return { tag, at, start, end, next: end + 2 };
  }
  let length = first;
  if (first > OPEN_LENGTH) {
    const size = first - OPEN_LENGTH;
    length = bytes.readUIntBE(start, size);
    start += size;
  }
  if (start + length > bytes.length) throw new RangeError('an element is cut off');
  return { tag, at, start, end: start + length, next: start + length };
};

const elementsIn = (bytes: Buffer, { start, end }: Element): Element[] => {
  const found: Element[] = [];
  for (let at = start; at < end; ) {
    const element = elementAt(bytes, at);
    found.push(element);
    at = element.next;
  }
  return found;
};

const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

/**
 * The certificates that a verified token carries, in PEM. Takes only the way there apart: reading all of a token with
 * asn1js, as its verification does, took 2 ms, and a dossier may hold thousands. Throws where the bytes are no token.
 */
export const tokenCertificates = (tokenBytes: Uint8Array): string[] => {
  const bytes = Buffer.from(tokenBytes.buffer, tokenBytes.byteOffset, tokenBytes.byteLength);
  const child = (of: Element | undefined, position: number) => of && elementsIn(bytes, of)[position];
  const contentInfo = child(elementAt(bytes, 0), 1);
  const signedData = child(child(contentInfo, 1), 0);
  if (!signedData) throw new RangeError('no token');
  // Version, digest algorithms and content come first; what is signed is in an octet string further in.
  const set = elementsIn(bytes, signedData).find(({ tag }) => tag === CONTEXT_0);
  if (!set) return [];
  return elementsIn(bytes, set)
    .filter(({ tag }) => tag === SEQUENCE)
    .map(({ at, next }) => pemOf(bytes.subarray(at, next)));
};
