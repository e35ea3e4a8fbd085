import { bytesToHex } from '@noble/hashes/utils.js';
import { BaseBlock, Constructed, type Integer, ObjectIdentifier, OctetString } from 'asn1js';
import type { Certificate, Extension } from 'pkijs';

// Also for browsers: imports nothing of Node.

/** The object identifiers of RFC 3161, 5035, 5652 and 5280 that time-stamps use. */
export const OID = {
  signedData: '1.2.840.113549.1.7.2',
  timestampInfo: '1.2.840.113549.1.9.16.1.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  ecKey: '1.2.840.10045.2.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
  rsaPss: '1.2.840.113549.1.1.10',
  maskGeneration1: '1.2.840.113549.1.1.8',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  commonName: '2.5.4.3',
  organisation: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  certificatePolicies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
  timeStamping: '1.3.6.1.5.5.7.3.8',
} as const;

/** A hash function that is accepted for time-stamps (TSA_HASH), by its name in node:crypto. */
export type TimestampHash = 'sha256' | 'sha384' | 'sha512';

/** The length of each function's result in bytes; all are different. */
export const HASH_BYTES: Readonly<Record<TimestampHash, number>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Hash functions by identifier. SHA-1 is not accepted. */
export const HASHES: Readonly<Record<string, TimestampHash>> = {
  [OID.sha256]: 'sha256',
  [OID.sha384]: 'sha384',
  [OID.sha512]: 'sha512',
};

/** The hash function whose results have the given number of bytes, or null. */
export const hashOfLength = (bytes: number): TimestampHash | null =>
  Object.values(HASHES).find((hash) => HASH_BYTES[hash] === bytes) ?? null;

/**
 * The policy of tokens of the development authority. It spells "development" in ASCII below the arc 2.999, which is reserved
 * for examples, so that no real authority can have it.
 */
export const DEVELOPMENT_POLICY = ['2.999', ...new TextEncoder().encode('development')].join('.');

/** A random serial number or nonce: 128 bits that always encode as a positive DER INTEGER of the same length. */
export const newSerial = (): Uint8Array<ArrayBuffer> => {
  const serial = crypto.getRandomValues(new Uint8Array(16));
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
};

/** The elements of a sequence or set; an empty list for any other block. */
export const elementsOf = (block: unknown): BaseBlock[] =>
  block instanceof Constructed ? block.valueBlock.value.filter((inner) => inner instanceof BaseBlock) : [];

/** The bytes of an octet string, or null for any other block. */
export const octetsOf = (block: unknown): Uint8Array | null =>
  block instanceof OctetString ? new Uint8Array(block.getValue()) : null;

/** The dotted form of an object identifier, or null for any other block. */
export const identifierOf = (block: unknown): string | null =>
  block instanceof ObjectIdentifier ? block.valueBlock.toString() : null;

/** An INTEGER of any length in lower-case hex without leading zero bytes: serials and nonces do not fit into a number. */
export const hexOf = (integer: Integer | Uint8Array): string =>
  bytesToHex(integer instanceof Uint8Array ? integer : integer.valueBlock.valueHexView).replace(/^(00)+(?=.)/, '');

export const hasSameBytes = (one: Uint8Array | null | undefined, other: Uint8Array): boolean =>
  one?.length === other.length && one.every((byte, at) => byte === other[at]);

export const extensionOf = ({ fields }: { fields: Certificate }, extnID: string): Extension | undefined =>
  fields.extensions?.find((extension) => extension.extnID === extnID);

/** Critical extensions that are checked, or that require nothing if no certificate policy is required. */
const UNDERSTOOD: readonly string[] = [
  ...[OID.keyUsage, OID.basicConstraints, OID.extendedKeyUsage, OID.subjectAlternativeName],
  ...[OID.certificatePolicies, OID.policyConstraints, OID.inhibitAnyPolicy],
];

/** Whether a certificate has no critical extension other than those that are known here. */
export const isUnderstood = ({ fields }: { fields: Certificate }): boolean =>
  fields.extensions?.every(({ critical, extnID }) => !critical || UNDERSTOOD.includes(extnID)) ?? true;
