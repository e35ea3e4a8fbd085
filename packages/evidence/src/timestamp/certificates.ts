import { X509Certificate } from 'node:crypto';
import { BasicConstraints, Certificate, type Extension } from 'pkijs';
import { OID } from './object-identifiers.js';
import { TimestampRefused } from './timestamp.js';

/** One certificate, read twice: OpenSSL judges its signature and its issuer, pkijs tells its extensions. */
export type ReadCertificate = { x509: X509Certificate; fields: Certificate };

/** Reads DER or PEM. Throws whatever the libraries throw at what is no certificate. */
export const readCertificate = (source: Buffer | string): ReadCertificate => {
  const x509 = new X509Certificate(source);
  return { x509, fields: Certificate.fromBER(Uint8Array.from(x509.raw)) };
};

/** The extension of that identifier, or undefined. */
export const extensionOf = ({ fields }: ReadCertificate, extnID: string): Extension | undefined =>
  fields.extensions?.find((extension) => extension.extnID === extnID);

type FindCertificatePath = {
  signer: ReadCertificate;
  /** Certificates that came along; not trusted for that. */
  others: readonly ReadCertificate[];
  /** The path has to end in one of these. Without any it ends wherever it cannot go on. */
  trustedRoots: readonly ReadCertificate[];
  /** When every certificate must have been valid: the time-stamp's time. */
  at: Date;
};

/** Critical extensions that are judged here, or that ask for nothing where no certificate policy is required. */
const UNDERSTOOD: readonly string[] = [
  ...[OID.keyUsage, OID.basicConstraints, OID.extendedKeyUsage, OID.subjectAlternativeName],
  ...[OID.certificatePolicies, OID.policyConstraints, OID.inhibitAnyPolicy],
];

const isSelfSigned = ({ x509 }: ReadCertificate) => x509.checkIssued(x509) && x509.verify(x509.publicKey);

const isValid = ({ x509 }: ReadCertificate, at: Date) =>
  Date.parse(x509.validFrom) <= at.getTime() && at.getTime() <= Date.parse(x509.validTo);

const isUnderstood = ({ fields }: ReadCertificate) =>
  fields.extensions?.every(({ critical, extnID }) => !critical || UNDERSTOOD.includes(extnID)) ?? true;

/** How many authorities may stand between this one and the signer. */
const roomBelow = (authority: ReadCertificate): number => {
  const found = extensionOf(authority, OID.basicConstraints)?.parsedValue;
  const limit = found instanceof BasicConstraints ? found.pathLenConstraint : undefined;
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
};

/**
 * The certificates from the signer to the topmost known one, each issued by the next, all valid at `at`. Searches with
 * OpenSSL's judgement of single links and goes through no certificate twice, since hostile ones may issue each other.
 * Throws {@link TimestampRefused} `wrong_chain`: an expired link, a link that does not hold, none of the roots reached.
 */
export const findCertificatePath = ({ signer, others, trustedRoots, at }: FindCertificatePath): ReadCertificate[] => {
  const isTrusted = ({ x509 }: ReadCertificate) => trustedRoots.some((root) => root.x509.raw.equals(x509.raw));
  if (!isValid(signer, at))
    throw new TimestampRefused('wrong_chain', "the signer's certificate was not valid at the time it gives");
  if (!isUnderstood(signer))
    throw new TimestampRefused('wrong_chain', "the signer's certificate has a critical extension we do not know");
  const seen = new Set([signer.x509.fingerprint256]);

  const climb = (path: ReadCertificate[], current: ReadCertificate): ReadCertificate[] | null => {
    if (isTrusted(current)) return path;
    const known = [...trustedRoots, ...others];
    for (const issuer of known) {
      const { x509 } = issuer;
      if (seen.has(x509.fingerprint256) || !x509.ca || !current.x509.checkIssued(x509)) continue;
      if (!isValid(issuer, at) || !isUnderstood(issuer) || roomBelow(issuer) < path.length - 1) continue;
      if (!current.x509.verify(x509.publicKey)) continue;
      seen.add(x509.fingerprint256);
      const whole = climb([...path, issuer], issuer);
      if (whole) return whole;
    }
    if (trustedRoots.length > 0) return null;
    // A namesake of the issuer that came along and did not fit is a broken link, not an end.
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
 * The certificates of PEM texts, each with one or more of them and whatever lies between. Throws an Error for a text
 * without any: a root that is not read would be a root that is not asked for.
 */
export const readTrustedRoots = (texts: readonly string[]): ReadCertificate[] =>
  texts.flatMap((text) => {
    const found = text.match(CERTIFICATE);
    if (!found) throw new Error('a trusted root holds no PEM certificate (its text is wanted, not a path)');
    return found.map((pem) => readCertificate(pem));
  });

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * `certificates` with those of `known` that issued any of them, directly or not: a root that is trusted is often not in the
 * tokens that lead to it. PEM, any number of certificates in each; the result has one in each, none twice.
 */
export const withIssuers = (certificates: readonly string[], known: readonly string[]): string[] => {
  const read = (pems: readonly string[]) =>
    pems.flatMap((pem) => pem.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
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
