import { X509Certificate } from 'node:crypto';
import { BasicConstraints, Certificate } from 'pkijs';
import { extensionOf, isUnderstood, OID } from './object-identifiers.js';
import { TimestampRefused } from './timestamp.js';

/** One certificate, parsed twice: OpenSSL verifies its signature and issuer, pkijs reads its extensions. */
export type ReadCertificate = { x509: X509Certificate; fields: Certificate };

/** Reads DER or PEM. Throws the error of the library if the input is not a certificate. */
export const readCertificate = (source: Buffer | string): ReadCertificate => {
  const x509 = new X509Certificate(source);
  return { x509, fields: Certificate.fromBER(Uint8Array.from(x509.raw)) };
};

type FindCertificatePath = {
  signer: ReadCertificate;
  /** The other certificates in the token; they are not trusted. */
  others: readonly ReadCertificate[];
  /** The path must end in one of these. If there are none, it ends at the topmost certificate that is known. */
  trustedRoots: readonly ReadCertificate[];
  /** The time at which every certificate must have been valid: that of the time-stamp. */
  at: Date;
};

const isSelfSigned = ({ x509 }: ReadCertificate) => x509.checkIssued(x509) && x509.verify(x509.publicKey);

const isValid = ({ x509 }: ReadCertificate, at: Date) =>
  Date.parse(x509.validFrom) <= at.getTime() && at.getTime() <= Date.parse(x509.validTo);

/** The number of authorities that are allowed between this one and the signer. */
const maxAuthoritiesBelow = (authority: ReadCertificate): number => {
  const found = extensionOf(authority, OID.basicConstraints)?.parsedValue;
  const limit = found instanceof BasicConstraints ? found.pathLenConstraint : undefined;
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
};

/**
 * The certificates from the signer to the topmost known one, each issued by the next, all valid at `at`. OpenSSL verifies
 * each link. No certificate is visited twice, because hostile certificates may issue each other. Throws
 * {@link TimestampRefused} `wrong_chain` if a link is expired or invalid, or if no root is reached.
 */
export const findCertificatePath = ({ signer, others, trustedRoots, at }: FindCertificatePath): ReadCertificate[] => {
  const isTrusted = ({ x509 }: ReadCertificate) => trustedRoots.some((root) => root.x509.raw.equals(x509.raw));
  if (!isValid(signer, at))
    throw new TimestampRefused('wrong_chain', "the signer's certificate was not valid at the time it gives");
  if (!isUnderstood(signer))
    throw new TimestampRefused('wrong_chain', "the signer's certificate has an unknown critical extension");
  const seen = new Set([signer.x509.fingerprint256]);

  const climb = (path: ReadCertificate[], current: ReadCertificate): ReadCertificate[] | null => {
    if (isTrusted(current)) return path;
    const known = [...trustedRoots, ...others];
    for (const issuer of known) {
      const { x509 } = issuer;
      if (seen.has(x509.fingerprint256) || !x509.ca || !current.x509.checkIssued(x509)) continue;
      if (!isValid(issuer, at) || !isUnderstood(issuer) || maxAuthoritiesBelow(issuer) < path.length - 1) continue;
      if (!current.x509.verify(x509.publicKey)) continue;
      seen.add(x509.fingerprint256);
      const complete = climb([...path, issuer], issuer);
      if (complete) return complete;
    }
    if (trustedRoots.length > 0) return null;
    // A certificate with the issuer's name that did not issue this one means an invalid link, not the end of the path.
    const isTop = isSelfSigned(current) || !known.some(({ x509 }) => x509.subject === current.x509.issuer);
    return isTop ? path : null;
  };

  const path = climb([signer], signer);
  if (!path)
    throw new TimestampRefused(
      'wrong_chain',
      trustedRoots.length > 0
        ? "the signer's certificate does not lead to a trusted root"
        : "the certificate named as the signer's issuer did not issue it, or was not valid then",
    );
  return path;
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates in PEM texts; each text has one or more of them and may have other text between. Throws an Error for a
 * text without any certificate, because an unreadable root would otherwise be ignored.
 */
export const readTrustedRoots = (texts: readonly string[]): ReadCertificate[] =>
  texts.flatMap((text) => {
    const found = text.match(CERTIFICATE);
    if (!found) throw new Error('a trusted root contains no PEM certificate (give its text, not a path)');
    return found.map((pem) => readCertificate(pem));
  });

/**
 * Adds to `certificates` those of `known` that issued any of them, directly or indirectly: a trusted root is often not in the
 * tokens that lead to it. PEM, any number of certificates in each; the result has one in each, without duplicates.
 */
export const withIssuers = (certificates: readonly string[], known: readonly string[]): string[] => {
  const read = (pems: readonly string[]) =>
    pems.flatMap((pem) => pem.match(CERTIFICATE) ?? []).map((block) => new X509Certificate(block));
  const all = new Map(read(certificates).map((one) => [one.fingerprint256, one]));
  let candidates = read(known);
  for (let added = true; added; ) {
    const issuers = candidates.filter((one) =>
      [...all.values()].some((below) => below.checkIssued(one) && below.verify(one.publicKey)),
    );
    candidates = candidates.filter((one) => !issuers.includes(one));
    for (const issuer of issuers) all.set(issuer.fingerprint256, issuer);
    added = issuers.length > 0;
  }
  return [...all.values()].map(String);
};

/** Offsets of an ASN.1 element: `at` of its tag, `start` and `end` of its content, `next` of the following element. */
type Element = { tag: number; at: number; start: number; end: number; next: number };

const SEQUENCE = 0x30;
/** `[0]`, constructed: ContentInfo's content, and the certificates of SignedData. */
const CONTEXT_0 = 0xa0;
const OPEN_LENGTH = 0x80;

/** The element at `at`. Indefinite lengths are accepted, because some authorities use them. Throws a RangeError if there is none. */
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
  if (start + length > bytes.length) throw new RangeError('an element is truncated');
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
 * The certificates in a verified token, in PEM. Parses only the elements on the path to them: parsing a whole token with
 * asn1js, as verification does, takes 2 ms, and a dossier may contain thousands. Throws if the bytes are not a token.
 */
export const tokenCertificates = (tokenBytes: Uint8Array): string[] => {
  const bytes = Buffer.from(tokenBytes.buffer, tokenBytes.byteOffset, tokenBytes.byteLength);
  const child = (of: Element | undefined, position: number) => of && elementsIn(bytes, of)[position];
  const contentInfo = child(elementAt(bytes, 0), 1);
  const signedData = child(child(contentInfo, 1), 0);
  if (!signedData) throw new RangeError('not a token');
  // Version, digest algorithms and content precede the certificates; none of them has the tag [0].
  const set = elementsIn(bytes, signedData).find(({ tag }) => tag === CONTEXT_0);
  if (!set) return [];
  return elementsIn(bytes, set)
    .filter(({ tag }) => tag === SEQUENCE)
    .map(({ at, next }) => pemOf(bytes.subarray(at, next)));
};
