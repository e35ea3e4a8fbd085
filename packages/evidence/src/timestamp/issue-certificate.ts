import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { BitString, Integer, Null, OctetString, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
  PublicKeyInfo,
  Time,
} from 'pkijs';
import { newSerial, OID } from './object-identifiers.js';

/** A certificate and the private key of its subject. */
export type Holder = { certificate: Certificate; key: KeyObject };

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const extension = (extnID: string, value: { toBER: () => ArrayBuffer }, critical = true) =>
  new Extension({ extnID, critical, extnValue: value.toBER() });

const keyUsage = (usage: number) =>
  extension(
    OID.keyUsage,
    new BitString({ valueHex: Uint8Array.of(usage), unusedBits: 31 - Math.clz32(usage & -usage) }),
  );

/** The extensions of an authority's certificate: it may sign certificates and revocation lists. */
export const authorityExtensions = (pathLenConstraint?: number): Extension[] => [
  extension(
    OID.basicConstraints,
    new BasicConstraints({ cA: true, ...(pathLenConstraint === undefined ? {} : { pathLenConstraint }) }).toSchema(),
  ),
  keyUsage(0b0000_0110),
];

/** The extensions of a time-stamping unit's certificate, or of one with another usage or other purposes. */
export const unitExtensions = ({
  purposes = [OID.timeStamping] as readonly string[],
  critical = true,
  usage = 0b1000_0000,
} = {}): Extension[] => [
  keyUsage(usage),
  ...(purposes.length > 0
    ? [extension(OID.extendedKeyUsage, new ExtKeyUsage({ keyPurposes: [...purposes] }).toSchema(), critical)]
    : []),
];

/** The names of a TLS server: host names, and IPv4 addresses or the IPv6 address ::1. */
export const serverNames = ({ dns = [], ip = [] }: { dns?: readonly string[]; ip?: readonly string[] }): Extension => {
  const addressOf = (text: string) =>
    text === '::1' ? Uint8Array.of(...Array(15).fill(0), 1) : Uint8Array.from(text.split('.'), Number);
  const names = [
    ...dns.map((value) => new GeneralName({ type: 2, value })),
    ...ip.map((text) => new GeneralName({ type: 7, value: new OctetString({ valueHex: addressOf(text) }) })),
  ];
  return extension(OID.subjectAlternativeName, new GeneralNames({ names }).toSchema(), false);
};

/** Whole seconds, and UTCTime up to 2049: OpenSSL rejects other certificates. Source: RFC 5280 §4.1.2.5. */
const timeOf = (date: Date) => {
  const value = new Date(date);
  value.setUTCMilliseconds(0);
  return new Time({ type: value.getUTCFullYear() < 2050 ? 0 : 1, value });
};

const publicKeyInfo = (key: KeyObject): PublicKeyInfo =>
  PublicKeyInfo.fromBER(Uint8Array.from(createPublicKey(key).export({ type: 'spki', format: 'der' })));

const keyIdentifier = ({ subjectPublicKeyInfo: { subjectPublicKey } }: Certificate) =>
  new OctetString({
    valueHex: Uint8Array.from(createHash('sha1').update(subjectPublicKey.valueBlock.valueHexView).digest()),
  });

/** The algorithm with which a key of `node:crypto` signs over SHA-256. An RSA-PSS key contains its own parameters. */
export const signatureAlgorithmOf = (key: KeyObject): AlgorithmIdentifier => {
  if (key.asymmetricKeyType === 'ec') return new AlgorithmIdentifier({ algorithmId: OID.ecdsaWithSha256 });
  if (key.asymmetricKeyType === 'rsa')
    return new AlgorithmIdentifier({ algorithmId: OID.rsaWithSha256, algorithmParams: new Null() });
  return publicKeyInfo(key).algorithm;
};

type IssueCertificate = {
  /** The subject's common name. */
  subject: string;
  /** Null for a self-signed certificate. */
  issuer: Holder | null;
  from: Date;
  to: Date;
  extensions: readonly Extension[];
  /** The subject's private key: EC, RSA or RSA-PSS. Default: a new one on P-256. */
  key?: KeyObject | undefined;
};

/** Issues an X.509 certificate, signed over SHA-256, with both key identifiers and the given extensions. */
export const issueCertificate = ({
  subject,
  issuer,
  from,
  to,
  extensions,
  key = newKey(),
}: IssueCertificate): Holder => {
  const signer = issuer?.key ?? key;
  const algorithm = signatureAlgorithmOf(signer);
  const certificate = new Certificate({
    ...{ version: 2, serialNumber: new Integer({ valueHex: newSerial() }), subjectPublicKeyInfo: publicKeyInfo(key) },
    ...{ notBefore: timeOf(from), notAfter: timeOf(to), signature: algorithm, signatureAlgorithm: algorithm },
  });
  certificate.subject.typesAndValues.push(
    new AttributeTypeAndValue({ type: OID.commonName, value: new Utf8String({ value: subject }) }),
  );
  certificate.issuer = issuer?.certificate.subject ?? certificate.subject;
  const authority = new AuthorityKeyIdentifier({ keyIdentifier: keyIdentifier(issuer?.certificate ?? certificate) });
  certificate.extensions = [
    ...extensions,
    extension(OID.subjectKeyIdentifier, keyIdentifier(certificate), false),
    extension(OID.authorityKeyIdentifier, authority.toSchema(), false),
  ];
  certificate.tbsView = new Uint8Array(certificate.encodeTBS().toBER());
  certificate.signatureValue = new BitString({
    valueHex: Uint8Array.from(sign('sha256', certificate.tbsView, signer)),
  });
  return { certificate, key };
};

export const certificatePem = (certificate: Certificate): string =>
  new X509Certificate(new Uint8Array(certificate.toSchema(true).toBER())).toString();

/** A private key in PEM (PKCS #8). */
export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
