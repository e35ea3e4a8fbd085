import { DEVELOPMENT_POLICY } from './development-policy.js';
import { findCertificatePath } from './find-certificate-path.js';
import { type InfoExpectation, judgeInfo } from './judge-info.js';
import { judgePurpose } from './judge-purpose.js';
import { judgeSignature } from './judge-signature.js';
import { OID } from './object-identifiers.js';
import { hexOf } from './read-block.js';
import type { ReadCertificate } from './read-certificate.js';
import { readResponse } from './read-response.js';
import { readTrustedRoots } from './read-trusted-roots.js';
import type { Timestamp } from './timestamp.js';
import { TimestampRefused } from './timestamp-refused.js';

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
    const accuracyMs = judgeInfo(response.info, expected);
    const signer = judgeSignature(response);
    judgePurpose(signer);
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
