import { BaseBlock, Constructed, fromBER, type Integer, Null, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import {
  type AlgorithmIdentifier,
  IssuerAndSerialNumber,
  RSASSAPSSParams,
  SignedData,
  type SignerInfo,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TIMESTAMP_INFO = '1.2.840.113549.1.9.16.1.4';
export const RSA_PSS = '1.2.840.113549.1.1.10';
const MASK_GENERATION_1 = '1.2.840.113549.1.1.8';

/** The accepted hash functions by identifier, as Web Crypto names them. */
export const HASH_NAMES: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
};

/** A parsed RFC 3161 response. Only its form is verified. */
export type ParsedToken = {
  info: TSTInfo;
  /** The bytes that the message digest covers: the encoded TSTInfo. */
  infoBytes: ArrayBuffer;
  signer: SignerInfo;
  sid: IssuerAndSerialNumber;
  /** The certificates in the token, in DER. */
  certificates: Uint8Array[];
  /** Whether the unsigned parts are exactly those of a granted time-stamp. */
  plain: boolean;
};

/** The elements of a sequence or set; an empty list for any other block. */
export const elementsOf = (block: unknown): BaseBlock[] =>
  block instanceof Constructed ? block.valueBlock.value.filter((inner) => inner instanceof BaseBlock) : [];

/** The dotted form of an object identifier, or null. */
export const identifierOf = (block: unknown): string | null =>
  block instanceof ObjectIdentifier ? block.valueBlock.toString() : null;

/** The bytes of an octet string, or null. */
export const octetsOf = (block: unknown): Uint8Array | null =>
  block instanceof OctetString ? new Uint8Array(block.getValue()) : null;

/** An INTEGER in hex without leading zero bytes. */
export const numberOf = (integer: Integer): string =>
  [...integer.valueBlock.valueHexView]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(00)+(?=.)/, '');

const isPlain = ({ algorithmParams }: AlgorithmIdentifier) =>
  algorithmParams === undefined || algorithmParams instanceof Null;

const refuse = (reason: string): never => {
  throw new Error(reason);
};

/** Message and mask must use the signer's hash function (RFC 4055 §3.1). */
const hasOneHash = ({ signatureAlgorithm, digestAlgorithm }: SignerInfo): boolean => {
  const { hashAlgorithm, maskGenAlgorithm } = new RSASSAPSSParams({ schema: signatureAlgorithm.algorithmParams });
  const mask = identifierOf(elementsOf(maskGenAlgorithm.algorithmParams)[0]);
  return (
    maskGenAlgorithm.algorithmId === MASK_GENERATION_1 &&
    hashAlgorithm.algorithmId === digestAlgorithm.algorithmId &&
    mask === digestAlgorithm.algorithmId
  );
};

/** The certificates of ContentInfo → [0] → SignedData → [0]. */
const certificatesIn = (contentInfo: unknown): Uint8Array[] => {
  const set = elementsOf(elementsOf(elementsOf(contentInfo)[1])[0]).find(
    ({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 0,
  );
  return elementsOf(set)
    .filter((block) => block instanceof Sequence)
    .map((block) => new Uint8Array(block.valueBeforeDecodeView));
};

/** Parses a complete TimeStampResp. Throws an Error with a reason if it has not the form of a time-stamp. */
export const parseToken = (bytes: Uint8Array): ParsedToken => {
  const { offset, result } = fromBER(bytes.slice());
  if (offset !== bytes.length) refuse('bytes before or after the time-stamp');
  const { status, timeStampToken } = new TimeStampResp({ schema: result });
  if (status.status !== 0 && status.status !== 1) refuse('the authority rejected the request');
  if (timeStampToken?.contentType !== SIGNED_DATA) return refuse('not a time-stamp');
  const signed = new SignedData({ schema: timeStampToken.content });
  const { eContentType, eContent } = signed.encapContentInfo;
  const [signer, ...others] = signed.signerInfos;
  if (eContentType !== TIMESTAMP_INFO || !eContent || !signer || others.length > 0) return refuse('not a time-stamp');
  if (!(signer.sid instanceof IssuerAndSerialNumber)) return refuse('it names its signer by a key identifier');
  const isPss = signer.signatureAlgorithm.algorithmId === RSA_PSS;
  if (isPss && !hasOneHash(signer)) refuse('RSA-PSS with two hash functions');
  const [listed, ...more] = signed.digestAlgorithms;
  const infoBytes = eContent.getValue();
  return {
    info: TSTInfo.fromBER(infoBytes),
    infoBytes,
    signer,
    sid: signer.sid,
    certificates: certificatesIn(elementsOf(result)[1]),
    plain:
      status.status === 0 &&
      status.failInfo === undefined &&
      signed.version === 3 &&
      signer.version === 1 &&
      more.length === 0 &&
      listed?.algorithmId === signer.digestAlgorithm.algorithmId &&
      [listed, signer.digestAlgorithm, ...(isPss ? [] : [signer.signatureAlgorithm])].every(isPlain),
  };
};
