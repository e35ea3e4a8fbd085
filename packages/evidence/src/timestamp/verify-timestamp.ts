import { createHash } from 'node:crypto';
import { BitString } from 'asn1js';
import { type Accuracy, ExtKeyUsage, type TSTInfo } from 'pkijs';
import { extensionOf, findCertificatePath, type ReadCertificate, readTrustedRoots } from './certificates.js';
import { DEVELOPMENT_POLICY, HASHES, hashOfLength, hexOf, OID } from './object-identifiers.js';
import { type Timestamp, TimestampRefused } from './timestamp.js';
import { readResponse } from './timestamp-messages.js';
import { validateSignature } from './validate-signature.js';

/**
 * What was stamped. `digest`: its SHA-256, SHA-384 or SHA-512, and the token has to be over that one. `data`: its bytes,
 * and the token may be over any of the three.
 */
export type Stamped = { digest: Uint8Array } | { data: Uint8Array };

/** What a TSTInfo is compared with. */
export type InfoExpectation = Stamped & {
  /** Of the query; without it (a token read from the archive) the nonce is not looked at. */
  nonce?: Uint8Array | undefined;
  /** Object identifiers; any policy where there are none. */
  acceptedPolicies?: readonly string[] | undefined;
  /** How far the authority's time may lie from ours; not looked at for a token from the archive. */
  clock?: { now: Date; toleranceMs: number } | undefined;
};

/** A coarser time-stamp is of no use to somebody who has to show an order of events. */
const MAX_ACCURACY_MS = 60_000;

/** Milliseconds, rounded up; null when the authority does not say. Parts outside 1–999 are refused (RFC 3161 §2.4.2). */
const accuracyMs = (accuracy: Accuracy | undefined): number | null => {
  if (!accuracy) return null;
  const { seconds = 0, millis = 0, micros = 0 } = accuracy;
  const inRange = [millis, micros].every((part) => Number.isInteger(part) && part >= 0 && part <= 999);
  const total = seconds * 1000 + millis + Math.ceil(micros / 1000);
  if (!inRange || !Number.isInteger(seconds) || seconds < 0 || total > MAX_ACCURACY_MS)
    throw new TimestampRefused('wrong_accuracy', `an accuracy of ${seconds} s ${millis} ms ${micros} µs`);
  return total;
};

const judgeImprint = ({ messageImprint: { hashAlgorithm, hashedMessage } }: TSTInfo, stamped: Stamped): void => {
  const hash = HASHES[hashAlgorithm.algorithmId];
  if (!hash || ('digest' in stamped && hash !== hashOfLength(stamped.digest.length)))
    throw new TimestampRefused('wrong_imprint_algorithm', `the imprint is made with ${hashAlgorithm.algorithmId}`);
  const expected = 'digest' in stamped ? stamped.digest : createHash(hash).update(stamped.data).digest();
  if (!Buffer.from(hashedMessage.getValue()).equals(expected))
    throw new TimestampRefused('wrong_imprint', 'the token is of something else');
};

/** Whether a TSTInfo answers the query; its accuracy in milliseconds. Throws {@link TimestampRefused}. */
export const validateInfo = (info: TSTInfo, expected: InfoExpectation): number | null => {
  const { nonce, acceptedPolicies, clock } = expected;
  if (info.version !== 1) throw new TimestampRefused('unreadable', `a TSTInfo of version ${info.version}`);
  judgeImprint(info, expected);
  const asked =
    nonce &&
    Buffer.from(nonce)
      .toString('hex')
      .replace(/^(00)+(?=.)/, '');
  if (asked !== undefined && (!info.nonce || hexOf(info.nonce) !== asked))
    throw new TimestampRefused('wrong_nonce', info.nonce ? 'the nonce is not ours' : 'the nonce is missing');
  if (acceptedPolicies && !acceptedPolicies.includes(info.policy))
    throw new TimestampRefused('wrong_policy', `the policy is ${info.policy}`);
  const accuracy = accuracyMs(info.accuracy);
  if (clock) {
    const apartMs = info.genTime.getTime() - clock.now.getTime();
    // Written so that a time that is no time is refused too.
    if (!(Math.abs(apartMs) <= clock.toleranceMs + (accuracy ?? 0)))
      throw new TimestampRefused('wrong_time', `the authority's time is ${apartMs} ms from ours`);
  }
  return accuracy;
};

/** digitalSignature and nonRepudiation, the first two bits of KeyUsage. */
const SIGNING = 0b1100_0000;

/**
 * Whether a certificate is made for time-stamping and for nothing else: its extended key usage is critical and that
 * alone, its key usage only for signing. Throws {@link TimestampRefused}. Source: RFC 3161 §2.3.
 */
export const validatePurpose = (certificate: ReadCertificate): void => {
  const purpose = extensionOf(certificate, OID.extendedKeyUsage);
  const purposes = purpose?.parsedValue instanceof ExtKeyUsage ? purpose.parsedValue.keyPurposes : [];
  if (!purpose?.critical || purposes.length !== 1 || purposes[0] !== OID.timeStamping)
    throw new TimestampRefused('wrong_purpose', 'the certificate is not critically for time-stamping alone');
  const usage = extensionOf(certificate, OID.keyUsage)?.parsedValue;
  if (usage === undefined) return;
  const [bits = 0, ...more] = usage instanceof BitString ? usage.valueBlock.valueHexView : [];
  if ((bits & SIGNING) === 0 || (bits & ~SIGNING) !== 0 || more.some((byte) => byte !== 0))
    throw new TimestampRefused('wrong_purpose', "the certificate's key usage is not signing alone");
};

type VerifyTimestamp = InfoExpectation & {
  /** A whole TimeStampResp. */
  tokenBytes: Uint8Array;
  /** PEM, one or more in each. The signer's certificate has to lead to one; where there are none, its own chain has to hold. */
  trustedRoots?: readonly string[] | undefined;
};

const nameOf = ({ x509, fields }: ReadCertificate): string => {
  const { typesAndValues } = fields.subject;
  const named = (type: string) => typesAndValues.findLast((part) => part.type === type)?.value.valueBlock.value;
  return String(named(OID.commonName) ?? named(OID.organisation) ?? x509.subject.replaceAll('\n', ', '));
};

/** OpenSSL and the ASN.1 library differ in what they can read; what either throws at foreign bytes is one refusal. */
const readable = <T>(judge: () => T): T => {
  try {
    return judge();
  } catch (error) {
    if (error instanceof TimestampRefused) throw error;
    throw new TimestampRefused('unreadable', `the token cannot be read (${(error as Error).message})`);
  }
};

/**
 * Verifies a time-stamp down to the last check that RFC 3161 asks of a client, with nothing but what it carries and what
 * is given: status, one signer, content, imprint, nonce, policy, accuracy, time, the signer's certificate and its purpose,
 * message digest, signature, and the chain as it was at the token's time. Throws `TimestampRefused`; another error only
 * where a trusted root is no certificate. Revocation is not asked: a token is verified years later, without a network.
 */
export const verifyTimestamp = ({ tokenBytes, trustedRoots = [], ...expected }: VerifyTimestamp): Timestamp => {
  const roots = readTrustedRoots(trustedRoots);
  return readable(() => {
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
    };
  });
};
