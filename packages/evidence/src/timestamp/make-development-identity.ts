import { webcrypto } from 'node:crypto';
import { BitString } from 'asn1js';
import { BasicConstraints, type Certificate, Extension, ExtKeyUsage } from 'pkijs';
import { issueCertificate } from './issue-certificate.js';
import { OID } from './object-identifiers.js';

/** The development authority's key and certificates in PEM. Whoever has the key can stamp whatever they like. */
export type DevelopmentIdentity = {
  key: string;
  certificate: string;
  /** Issued `certificate`; its own key is thrown away. */
  root: string;
};

/** How the development authority signs: as the real ones do, of which every kind has to be verifiable. */
export type SignatureScheme = 'ecdsa' | 'rsa' | 'rsa-pss';

const RSA = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' };
const KEYS = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', ...RSA },
  'rsa-pss': { name: 'RSA-PSS', ...RSA },
} as const satisfies Record<SignatureScheme, object>;
const VALID_YEARS = 30;

const pem = (label: string, der: ArrayBuffer) =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
const certificatePem = (certificate: Certificate) => pem('CERTIFICATE', certificate.toSchema(true).toBER());
const critical = (extnID: string, extnValue: ArrayBuffer) => new Extension({ extnID, critical: true, extnValue });
const keyUsage = (bits: number, unusedBits: number) =>
  critical(OID.keyUsage, new BitString({ valueHex: Uint8Array.of(bits), unusedBits }).toBER());
const constraints = (cA: boolean) =>
  critical(OID.basicConstraints, new BasicConstraints(cA ? { cA, pathLenConstraint: 0 } : { cA }).toSchema().toBER());

/**
 * Makes a development authority: a root, and a certificate for time-stamping that it issued, valid from a day before
 * `now` on (clocks differ) for 30 years. To be made once and kept, for its tokens verify only with its own root.
 */
export const makeDevelopmentIdentity = async (
  now: Date,
  scheme: SignatureScheme = 'ecdsa',
): Promise<DevelopmentIdentity> => {
  const from = new Date(now.getTime() - 86_400_000);
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + VALID_YEARS);
  const newKeys = () => webcrypto.subtle.generateKey(KEYS[scheme], true, ['sign', 'verify']);
  const [rootKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  const root = await issueCertificate({
    ...{ subject: 'VAT Validation Service development root (worth nothing)', from, to },
    ...{ publicKey: rootKeys.publicKey, issuer: null, signingKey: rootKeys.privateKey },
    extensions: [constraints(true), keyUsage(0b0000_0110, 1)], // keyCertSign, cRLSign
  });
  const purpose = new ExtKeyUsage({ keyPurposes: [OID.timeStamping] }).toSchema().toBER();
  const certificate = await issueCertificate({
    ...{ subject: 'VAT Validation Service development time-stamps (worth nothing)', from, to },
    ...{ publicKey: keys.publicKey, issuer: root, signingKey: rootKeys.privateKey },
    extensions: [constraints(false), keyUsage(0b1000_0000, 7), critical(OID.extendedKeyUsage, purpose)],
  });
  return {
    key: pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    certificate: certificatePem(certificate),
    root: certificatePem(root),
  };
};
