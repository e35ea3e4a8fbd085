import { createHash } from 'node:crypto';
import { BitString } from 'asn1js';
import { type Accuracy, ExtKeyUsage, type TSTInfo } from 'pkijs';
import { findCertificatePath, type ReadCertificate, readTrustedRoots } from './certificates.js';
import { DEVELOPMENT_POLICY, extensionOf, HASHES, hashOfLength, hexOf, OID } from './object-identifiers.js';
import { plainText, type Timestamp, TimestampRefused } from './timestamp.js';
import { readResponse } from './timestamp-messages.js';
import { validateSignature } from './validate-signature.js';

/**
 * What was stamped. `digest`: its SHA-256, SHA-384 or SHA-512; the token must contain exactly this digest. `data`: its bytes;
 * the token may contain any of the three digests.
 */
export type Stamped = { digest: Uint8Array } | { data: Uint8Array };

/** The expected content of a TSTInfo. */
type InfoExpectation = Stamped & {
  /** The nonce of the query; undefined for a stored token, whose nonce is not checked. */
  nonce?: Uint8Array | undefined;
  /** Our time, from which the authority's may differ by {@link TOLERANCE_MS}; undefined for a stored token. */
  now?: Date | undefined;
};

const TOLERANCE_MS = 300_000;

/** Less accurate time-stamps are refused, because they do not show the order of events. */
const MAX_ACCURACY_MS = 60_000;

/** Milliseconds, rounded up; null if the authority states none. Parts outside 1–999 are refused (RFC 3161 §2.4.2). */
const accuracyMs = (accuracy: Accuracy | undefined): number | null => {
  if (!accuracy) return null;
  const { seconds = 0, millis = 0, micros = 0 } = accuracy;
  const inRange = [millis, micros].every((part) => Number.isInteger(part) && part >= 0 && part <= 999);
  const total = seconds * 1000 + millis + Math.ceil(micros / 1000);
  if (!inRange || !Number.isInteger(seconds) || seconds < 0 || total > MAX_ACCURACY_MS)
    throw new TimestampRefused('wrong_accuracy', `an accuracy of ${seconds} s ${millis} ms ${micros} µs`);
  return total;
};

const validateImprint = ({ messageImprint: { hashAlgorithm, hashedMessage } }: TSTInfo, stamped: Stamped): void => {
  const hash = HASHES[hashAlgorithm.algorithmId];
  if (!hash || ('digest' in stamped && hash !== hashOfLength(stamped.digest.length)))
    throw new TimestampRefused('wrong_imprint_algorithm', `the imprint is made with ${hashAlgorithm.algorithmId}`);
  const expected = 'digest' in stamped ? stamped.digest : createHash(hash).update(stamped.data).digest();
  if (!Buffer.from(hashedMessage.getValue()).equals(expected))
    throw new TimestampRefused('wrong_imprint', 'the token is of something else');
};

/** Compares a TSTInfo with the query and returns its accuracy in milliseconds. Throws {@link TimestampRefused}. */
const validateInfo = (info: TSTInfo, expected: InfoExpectation): number | null => {
  const { nonce, now } = expected;
  if (info.version !== 1) throw new TimestampRefused('unreadable', `a TSTInfo of version ${info.version}`);
  validateImprint(info, expected);
  if (nonce && (!info.nonce || hexOf(info.nonce) !== hexOf(nonce)))
    throw new TimestampRefused('wrong_nonce', info.nonce ? 'the nonce is not ours' : 'the nonce is missing');
  const accuracy = accuracyMs(info.accuracy);
  if (now) {
    const differenceMs = info.genTime.getTime() - now.getTime();
    // Negated so that an invalid date (NaN) is refused too.
    if (!(Math.abs(differenceMs) <= TOLERANCE_MS + (accuracy ?? 0)))
      throw new TimestampRefused('wrong_time', `the authority's time is ${differenceMs} ms from ours`);
  }
  return accuracy;
};

/** digitalSignature and nonRepudiation, the first two bits of KeyUsage. */
const SIGNING = 0b1100_0000;

/**
 * Validates that a certificate is for time-stamping only: its extended key usage is critical and only timeStamping, its key
 * usage only signing. Throws {@link TimestampRefused}. Source: RFC 3161 §2.3.
 */
const validatePurpose = (certificate: ReadCertificate): void => {
  const purpose = extensionOf(certificate, OID.extendedKeyUsage);
  const purposes = purpose?.parsedValue instanceof ExtKeyUsage ? purpose.parsedValue.keyPurposes : [];
  if (!purpose?.critical || purposes.length !== 1 || purposes[0] !== OID.timeStamping)
    throw new TimestampRefused(
      'wrong_purpose',
      'the extended key usage of the certificate is not critical and time-stamping alone',
    );
  const usage = extensionOf(certificate, OID.keyUsage)?.parsedValue;
  if (usage === undefined) return;
  const [bits = 0, ...more] = usage instanceof BitString ? usage.valueBlock.valueHexView : [];
  if ((bits & SIGNING) === 0 || (bits & ~SIGNING) !== 0 || more.some((byte) => byte !== 0))
    throw new TimestampRefused('wrong_purpose', "the certificate's key usage is not signing alone");
};

type VerifyTimestamp = InfoExpectation & {
  /** A complete TimeStampResp. */
  tokenBytes: Uint8Array;
  /** PEM, one or more in each. The signer's certificate must lead to one; if there are none, its own chain must be valid. */
  trustedRoots?: readonly string[] | undefined;
};

const nameOf = ({ x509, fields }: ReadCertificate): string => {
  const { typesAndValues } = fields.subject;
  const named = (type: string) => typesAndValues.findLast((part) => part.type === type)?.value.valueBlock.value;
  return plainText(String(named(OID.commonName) ?? named(OID.organisation) ?? x509.subject.replaceAll('\n', ', ')));
};

/** Turns the errors that OpenSSL and the ASN.1 library throw for untrusted bytes into one refusal. */
const refuseUnreadable = <T>(verify: () => T): T => {
  try {
    return verify();
  } catch (error) {
    if (error instanceof TimestampRefused) throw error;
    throw new TimestampRefused('unreadable', `the token cannot be read (${(error as Error).message})`);
  }
};

/**
 * Verifies a time-stamp completely as RFC 3161 requires of a client, using only its content and the arguments: status, one
 * signer, content, imprint, nonce, policy, accuracy, time, the signer's certificate and its purpose, message digest,
 * signature, and the chain at the token's time. Throws `TimestampRefused`, or another error if a trusted root is not a
 * certificate. Revocation is not checked, because tokens are also verified years later and without a network.
 */
export const verifyTimestamp = ({ tokenBytes, trustedRoots = [], ...expected }: VerifyTimestamp): Timestamp => {
  const roots = readTrustedRoots(trustedRoots);
  return refuseUnreadable(() => {
    const response = readResponse(tokenBytes);
    const accuracyMs = validateInfo(response.info, expected);
    const signer = validateSignature(response);
    validatePurpose(signer);
    const { genTime, policy, serialNumber } = response.info;
    const others = response.certificates;
    const path = findCertificatePath({ signer, others, trustedRoots: roots, at: genTime });
    return {
      ...{ tokenBytes, genTime, accuracyMs, serial: hexOf(serialNumber), policy, authority: nameOf(signer) },
      development: policy === DEVELOPMENT_POLICY,
      certificates: path.map(({ x509 }) => x509.toString()),
      validUntil: new Date(Math.min(...path.map(({ x509 }) => Date.parse(x509.validTo)))),
    };
  });
};
