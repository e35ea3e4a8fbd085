import { createHash, sign } from 'node:crypto';
import { Set as Asn1Set, ObjectIdentifier, OctetString, Sequence, UTCTime } from 'asn1js';
import {
  AlgorithmIdentifier,
  Attribute,
  type Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  IssuerAndSerialNumber,
  PKIStatusInfo,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
  TimeStampResp,
} from 'pkijs';
import { type Holder, signatureAlgorithmOf } from './issue-certificate.js';
import { OID } from './object-identifiers.js';

const digest = (hash: 'sha1' | 'sha256', bytes: Uint8Array) =>
  new OctetString({ valueHex: Uint8Array.from(createHash(hash).update(bytes).digest()) });

/**
 * The attribute that names the signer's certificate; clients reject tokens without it. Version 2 contains the SHA-256 of the
 * certificate, version 1 the SHA-1. Source: RFC 5035 §3.
 */
export const signingCertificateOf = (certificate: Certificate, version: 1 | 2 = 2): Attribute => {
  const hash = digest(version === 2 ? 'sha256' : 'sha1', new Uint8Array(certificate.toSchema(true).toBER()));
  const certificates = new Sequence({ value: [new Sequence({ value: [hash] })] });
  return new Attribute({
    type: version === 2 ? OID.signingCertificateV2 : OID.signingCertificate,
    values: [new Sequence({ value: [certificates] })],
  });
};

/** The signed attributes of a token with the given TSTInfo. */
export const tokenAttributes = (info: Uint8Array, certificate: Certificate, time: Date): Attribute[] => [
  new Attribute({ type: OID.contentType, values: [new ObjectIdentifier({ value: OID.timestampInfo })] }),
  new Attribute({ type: OID.signingTime, values: [new UTCTime({ valueDate: time })] }),
  new Attribute({ type: OID.messageDigest, values: [digest('sha256', info)] }),
  signingCertificateOf(certificate),
];

/** A SET in DER is sorted by its encoded elements. */
const inOrder = (attributes: readonly Attribute[]): Attribute[] =>
  attributes
    .map((attribute) => ({ attribute, bytes: Buffer.from(attribute.toSchema().toBER()) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ attribute }) => attribute);

type SignToken = {
  signer: Holder;
  /** The encoded TSTInfo. */
  content: Uint8Array;
  contentType?: string | undefined;
  attributes: readonly Attribute[];
  certificates: readonly Certificate[];
};

/** Signs a token with SHA-256. Source: RFC 5652 §5. */
export const signToken = ({
  signer: { certificate, key },
  content,
  contentType = OID.timestampInfo,
  attributes,
  certificates,
}: SignToken): SignedData => {
  const digestAlgorithm = new AlgorithmIdentifier({ algorithmId: OID.sha256 });
  const sorted = inOrder(attributes);
  const signed = new Asn1Set({ value: sorted.map((attribute) => attribute.toSchema()) }).toBER();
  const signerInfo = new SignerInfo({
    ...{ version: 1, digestAlgorithm, signatureAlgorithm: signatureAlgorithmOf(key) },
    sid: new IssuerAndSerialNumber({ issuer: certificate.issuer, serialNumber: certificate.serialNumber }),
    signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes: sorted }),
    signature: new OctetString({ valueHex: Uint8Array.from(sign('sha256', Buffer.from(signed), key)) }),
  });
  return new SignedData({
    ...{ version: 3, digestAlgorithms: [digestAlgorithm], signerInfos: [signerInfo] },
    encapContentInfo: new EncapsulatedContentInfo({
      eContentType: contentType,
      eContent: new OctetString({ valueHex: Uint8Array.from(content) }),
    }),
    ...(certificates.length > 0 ? { certificates: [...certificates] } : {}),
  });
};

/** The TimeStampResp of a granted request. */
export const grantedResponse = (signed: SignedData): Buffer => {
  const token = new ContentInfo({ contentType: OID.signedData, content: signed.toSchema(true) });
  const response = new TimeStampResp({ status: new PKIStatusInfo({ status: 0 }), timeStampToken: token });
  return Buffer.from(response.toSchema().toBER());
};
