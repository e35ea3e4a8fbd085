import { createHash, randomBytes, type webcrypto } from 'node:crypto';
import { Integer, OctetString, Utf8String } from 'asn1js';
import {
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  Certificate,
  Extension,
  type RelativeDistinguishedNames,
  Time,
} from 'pkijs';
import { OID } from './object-identifiers.js';

type IssueCertificate = {
  /** The subject's common name. */
  subject: string;
  publicKey: webcrypto.CryptoKey;
  /** Null for a self-signed certificate. */
  issuer: Certificate | null;
  signingKey: webcrypto.CryptoKey;
  from: Date;
  to: Date;
  extensions: Extension[];
};

/** Whole seconds, and UTCTime up to 2049: OpenSSL rejects other certificates. Source: RFC 5280 §4.1.2.5. */
const timeOf = (date: Date) => {
  const value = new Date(date);
  value.setUTCMilliseconds(0);
  return new Time({ type: value.getUTCFullYear() < 2050 ? 0 : 1, value });
};

const keyIdentifier = (certificate: Certificate) =>
  new OctetString({
    valueHex: Uint8Array.from(
      createHash('sha1').update(certificate.subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView).digest(),
    ),
  });

/** An X.509 certificate, signed with SHA-256, with both key identifiers and the given extensions. */
export const issueCertificate = async ({
  subject,
  publicKey,
  issuer,
  signingKey,
  from,
  to,
  extensions,
}: IssueCertificate): Promise<Certificate> => {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40; // positive, and always of the same length
  const certificate = new Certificate({
    version: 2,
    serialNumber: new Integer({ valueHex: Uint8Array.from(serial) }),
    notBefore: timeOf(from),
    notAfter: timeOf(to),
  });
  const name = new AttributeTypeAndValue({ type: OID.commonName, value: new Utf8String({ value: subject }) });
  certificate.subject.typesAndValues.push(name);
  const issuerName: RelativeDistinguishedNames = issuer?.subject ?? certificate.subject;
  certificate.issuer = issuerName;
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  const identifiers = [
    { extnID: OID.subjectKeyIdentifier, value: keyIdentifier(certificate) },
    {
      extnID: OID.authorityKeyIdentifier,
      value: new AuthorityKeyIdentifier({ keyIdentifier: keyIdentifier(issuer ?? certificate) }).toSchema(),
    },
  ];
  certificate.extensions = [
    ...extensions,
    ...identifiers.map(({ extnID, value }) => new Extension({ extnID, extnValue: value.toBER() })),
  ];
  await certificate.sign(signingKey, 'SHA-256');
  return certificate;
};
