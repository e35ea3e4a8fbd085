import { createHash, webcrypto } from 'node:crypto';
import { BitString, Integer, ObjectIdentifier, OctetString, Sequence, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  Attribute,
  BasicConstraints,
  type Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  Extension,
  ExtKeyUsage,
  IssuerAndSerialNumber,
  PKIStatusInfo,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import { issueCertificate } from './issue-certificate.js';
import { OID } from './object-identifiers.js';

type Keys = { publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey };
/** A certificate with its key. */
export type Holder = { certificate: Certificate; keys: Keys };

const DAY_MS = 86_400_000;
const newKeys = (): Promise<Keys> =>
  webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
const extension = (extnID: string, value: { toBER: () => ArrayBuffer }, critical = true) =>
  new Extension({ extnID, critical, extnValue: value.toBER() });

type IssueHolder = {
  subject: string;
  issuer: Holder | null;
  /** Used instead of the issuer's key. */
  signedBy?: Keys;
  from?: Date;
  to?: Date;
  extensions: Extension[];
};

/** Issues a certificate for a new key. */
export const issueHolder = async ({
  subject,
  issuer,
  signedBy,
  from,
  to,
  extensions,
}: IssueHolder): Promise<Holder> => {
  const keys = await newKeys();
  const certificate = await issueCertificate({
    ...{ subject, publicKey: keys.publicKey, extensions, issuer: issuer?.certificate ?? null },
    signingKey: (signedBy ?? issuer?.keys ?? keys).privateKey,
    from: from ?? new Date(Date.now() - DAY_MS),
    to: to ?? new Date(Date.now() + DAY_MS),
  });
  return { certificate, keys };
};

/** The extensions of an authority's certificate. */
export const authorityExtensions = (pathLenConstraint?: number): Extension[] => [
  extension(
    OID.basicConstraints,
    new BasicConstraints({ cA: true, ...(pathLenConstraint === undefined ? {} : { pathLenConstraint }) }).toSchema(),
  ),
  extension(OID.keyUsage, new BitString({ valueHex: Uint8Array.of(0b0000_0110), unusedBits: 1 })),
];

/** The extensions of a time-stamping unit's certificate, or variants of them. */
export const unitExtensions = ({
  purposes = [OID.timeStamping] as string[],
  critical = true,
  usage = 0b1000_0000,
} = {}): Extension[] => [
  extension(OID.keyUsage, new BitString({ valueHex: Uint8Array.of(usage), unusedBits: 0 })),
  ...(purposes.length > 0
    ? [extension(OID.extendedKeyUsage, new ExtKeyUsage({ keyPurposes: purposes }).toSchema(), critical)]
    : []),
];

const sha = (algorithm: string, bytes: Uint8Array) =>
  new OctetString({ valueHex: Uint8Array.from(createHash(algorithm).update(bytes).digest()) });

/** The signing certificate attribute: version 2 contains the SHA-256 of the certificate, version 1 the SHA-1. */
export const signingCertificateOf = (certificate: Certificate, version: 1 | 2 = 2): Attribute => {
  const hash = sha(version === 2 ? 'sha256' : 'sha1', new Uint8Array(certificate.toSchema(true).toBER()));
  const certificates = new Sequence({ value: [new Sequence({ value: [hash] })] });
  return new Attribute({
    type: version === 2 ? OID.signingCertificateV2 : OID.signingCertificate,
    values: [new Sequence({ value: [certificates] })],
  });
};

/** The differences between a forged reply and an honest one. */
export type Forgery = {
  /** A status other than granted; the reply has no token then. */
  status?: { status: number; text?: string };
  info?: (info: TSTInfo) => void;
  /** Rewrites the content after it was signed. */
  tampered?: (info: Uint8Array) => Uint8Array;
  attributes?: (honest: Attribute[]) => Attribute[];
  signers?: number;
  contentType?: string;
  /** The certificates in the token; an honest one contains the unit's certificate and its issuers. */
  certificates?: Certificate[];
  signature?: (signature: Uint8Array) => Uint8Array;
  signatureAlgorithm?: string;
  digestAlgorithm?: string;
  /** Changes the token after it was signed. */
  signed?: (signed: SignedData) => void;
};

/** An honest authority's reply to `query`, signed by `unit`, with the changes of `forgery`. */
export const forgeReply = async (
  query: Uint8Array,
  unit: Holder,
  chain: readonly Holder[],
  forgery: Forgery = {},
): Promise<Uint8Array> => {
  if (forgery.status) {
    const { status, text } = forgery.status;
    const statusStrings = text === undefined ? {} : { statusStrings: [new Utf8String({ value: text })] };
    const info = new PKIStatusInfo({ status, ...statusStrings });
    return Buffer.from(new TimeStampResp({ status: info }).toSchema().toBER());
  }
  const request = TimeStampReq.fromBER(Uint8Array.from(query));
  const info = new TSTInfo({
    ...{ version: 1, policy: '1.2.3.4', messageImprint: request.messageImprint, genTime: new Date() },
    serialNumber: new Integer({ value: 77 }),
    ...(request.nonce ? { nonce: request.nonce } : {}),
  });
  forgery.info?.(info);
  const infoBytes = new Uint8Array(info.toSchema().toBER());
  const honest = [
    new Attribute({ type: OID.contentType, values: [new ObjectIdentifier({ value: OID.timestampInfo })] }),
    new Attribute({ type: OID.messageDigest, values: [sha('sha256', infoBytes)] }),
    signingCertificateOf(unit.certificate),
  ];
  const content = forgery.tampered?.(infoBytes) ?? infoBytes;
  const newSigner = () =>
    new SignerInfo({
      version: 1,
      sid: new IssuerAndSerialNumber({
        issuer: unit.certificate.issuer,
        serialNumber: unit.certificate.serialNumber,
      }),
      signedAttrs: new SignedAndUnsignedAttributes({
        type: 0,
        attributes: forgery.attributes?.(honest) ?? honest,
      }),
    });
  const signed = new SignedData({
    version: 3,
    encapContentInfo: new EncapsulatedContentInfo({
      eContentType: forgery.contentType ?? OID.timestampInfo,
      eContent: new OctetString({ valueHex: Uint8Array.from(content) }),
    }),
    signerInfos: Array.from({ length: forgery.signers ?? 1 }, newSigner),
    certificates: forgery.certificates ?? [unit.certificate, ...chain.map(({ certificate }) => certificate)],
  });
  for (const [place, signer] of signed.signerInfos.entries()) {
    await signed.sign(unit.keys.privateKey, place, 'SHA-256');
    if (forgery.signature)
      signer.signature = new OctetString({
        valueHex: Uint8Array.from(forgery.signature(new Uint8Array(signer.signature.getValue()))),
      });
    if (forgery.signatureAlgorithm)
      signer.signatureAlgorithm = new AlgorithmIdentifier({ algorithmId: forgery.signatureAlgorithm });
    if (forgery.digestAlgorithm)
      signer.digestAlgorithm = new AlgorithmIdentifier({ algorithmId: forgery.digestAlgorithm });
  }
  forgery.signed?.(signed);
  const token = new ContentInfo({ contentType: OID.signedData, content: signed.toSchema(true) });
  const response = new TimeStampResp({ status: new PKIStatusInfo({ status: 0 }), timeStampToken: token });
  return Buffer.from(response.toSchema().toBER());
};
