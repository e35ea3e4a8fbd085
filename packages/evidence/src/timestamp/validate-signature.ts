import { constants, createHash, type KeyObject, verify } from 'node:crypto';
import type { AlgorithmIdentifier, IssuerAndSerialNumber, SignerInfo } from 'pkijs';
import type { ReadCertificate } from './certificates.js';
import { elementsOf, HASHES, hasSameBytes, hexOf, identifierOf, OID, octetsOf } from './object-identifiers.js';
import { readPss } from './read-pss.js';
import { TimestampRefused } from './timestamp.js';
import type { TimestampResponse } from './timestamp-messages.js';

/** Signature algorithms except RSA-PSS: the kind of key, and the hash function, or null for the signer's digest algorithm. */
const SIGNATURES: Readonly<Record<string, { key: string; hash: string | null }>> = {
  '1.2.840.113549.1.1.1': { key: 'rsa', hash: null },
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
};

const hashNamed = (algorithm: string): string => {
  const hash = HASHES[algorithm];
  if (!hash) throw new TimestampRefused('unknown_algorithm', `the hash function ${algorithm} is not accepted`);
  return hash;
};

/** The certificate that the signer info names by issuer and serial number. */
const certificateOf = ({ sid }: SignerInfo, certificates: readonly ReadCertificate[]): ReadCertificate => {
  const { issuer, serialNumber } = sid as IssuerAndSerialNumber;
  const found = certificates.find(
    ({ fields }) => fields.issuer.isEqual(issuer) && hexOf(fields.serialNumber) === hexOf(serialNumber),
  );
  if (!found) throw new TimestampRefused('no_certificate', "the token does not contain its signer's certificate");
  return found;
};

/** The single value of a signed attribute; undefined if it is missing. */
const attribute = ({ signedAttrs }: SignerInfo, type: string): unknown => {
  const [found, ...again] = signedAttrs?.attributes.filter((candidate) => candidate.type === type) ?? [];
  if (again.length > 0 || (found && found.values.length !== 1))
    throw new TimestampRefused('wrong_attributes', `the signed attribute ${type} does not have exactly one value`);
  return found?.values[0];
};

/**
 * Compares the hash of the first certificate in a SigningCertificate(V2) attribute with the signer's certificate.
 * Source: RFC 5035 §3.
 */
const validateSigningCertificate = (signer: SignerInfo, { x509 }: ReadCertificate): void => {
  const named = [
    { value: attribute(signer, OID.signingCertificateV2), byDefault: 'sha256' },
    { value: attribute(signer, OID.signingCertificate), byDefault: 'sha1' },
  ].filter(({ value }) => value !== undefined);
  if (named.length === 0)
    throw new TimestampRefused('wrong_signing_certificate', 'the signature does not name its certificate');
  for (const { value, byDefault } of named) {
    const [first, second] = elementsOf(elementsOf(elementsOf(value)[0])[0]);
    const algorithm = identifierOf(elementsOf(first)[0]);
    const hash = algorithm === null ? byDefault : hashNamed(algorithm);
    if (!hasSameBytes(octetsOf(algorithm === null ? first : second), createHash(hash).update(x509.raw).digest()))
      throw new TimestampRefused('wrong_signing_certificate', 'the signature names another certificate');
  }
};

const isValidSignature = (
  algorithm: AlgorithmIdentifier,
  digest: string,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
) => {
  const pss = readPss(algorithm);
  // A key that is restricted to RSA-PSS has its own key type.
  if (pss && ['rsa', 'rsa-pss'].includes(key.asymmetricKeyType ?? ''))
    return verify(
      digest,
      data,
      { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pss.saltLength },
      signature,
    );
  const known = SIGNATURES[algorithm.algorithmId];
  if (!known || known.key !== key.asymmetricKeyType)
    throw new TimestampRefused('unknown_algorithm', `the signature algorithm ${algorithm.algorithmId} is not accepted`);
  if ((known.hash ?? digest) !== digest)
    throw new TimestampRefused(
      'unsupported_form',
      `the signature is made with ${known.hash}, its digest with ${digest}`,
    );
  return verify(digest, data, key, signature);
};

/**
 * Verifies that the token's signature covers its content and was made with the certificate that it names. Returns that
 * certificate. Throws {@link TimestampRefused}. OpenSSL verifies the signature. Source: RFC 5652 §5.4, RFC 3161 §2.4.2.
 */
export const validateSignature = ({ signer, infoBytes, certificates }: TimestampResponse): ReadCertificate => {
  const certificate = certificateOf(signer, certificates);
  if (identifierOf(attribute(signer, OID.contentType)) !== OID.timestampInfo)
    throw new TimestampRefused('wrong_attributes', 'the signed content type is not that of a time-stamp');
  const digest = hashNamed(signer.digestAlgorithm.algorithmId);
  if (!hasSameBytes(octetsOf(attribute(signer, OID.messageDigest)), createHash(digest).update(infoBytes).digest()))
    throw new TimestampRefused('wrong_message_digest', 'the signature covers other content');
  validateSigningCertificate(signer, certificate);
  const data = Buffer.from(signer.signedAttrs?.encodedValue ?? new ArrayBuffer(0));
  const signature = Buffer.from(signer.signature.getValue());
  let valid = false;
  try {
    valid = isValidSignature(signer.signatureAlgorithm, digest, certificate.x509.publicKey, data, signature);
  } catch (error) {
    if (error instanceof TimestampRefused) throw error;
    // OpenSSL rejected the key or the parameters, so the signature is invalid.
  }
  if (!valid) throw new TimestampRefused('wrong_signature', 'the signature is invalid');
  return certificate;
};
