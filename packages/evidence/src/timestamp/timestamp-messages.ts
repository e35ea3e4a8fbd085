import { fromBER, Integer, Null, OctetString, Sequence } from 'asn1js';
import {
  AlgorithmIdentifier,
  IssuerAndSerialNumber,
  MessageImprint,
  SignedData,
  type SignerInfo,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import { type ReadCertificate, readCertificate } from './certificates.js';
import { elementsOf, hashOfLength, OID } from './object-identifiers.js';
import { readPss } from './read-pss.js';
import { TimestampRefused } from './timestamp.js';

type Query = {
  /** SHA-256, SHA-384 or SHA-512 of the stamped data; its length determines the function. */
  digest: Uint8Array;
  /** Binds the response to this query; a DER INTEGER, so the first byte is 0x01 to 0x7f. */
  nonce: Uint8Array;
};

/**
 * A TimeStampReq in DER with the hash and a nonce. It requests the certificates, so that the token can be verified by itself.
 * Throws if no hash function has the length of the digest. Source: RFC 3161 §2.4.1.
 */
export const encodeQuery = ({ digest, nonce }: Query): Buffer => {
  const hash = hashOfLength(digest.length);
  if (hash === null) throw new Error(`no supported hash function has a digest of ${digest.length} bytes`);
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: OID[hash], algorithmParams: new Null() }),
      hashedMessage: new OctetString({ valueHex: Uint8Array.from(digest) }),
    }),
    nonce: new Integer({ valueHex: Uint8Array.from(nonce) }),
    certReq: true,
  });
  return Buffer.from(request.toSchema().toBER());
};

const DATA_VERSION = 3;
const SIGNER_VERSION = 1;

const isPlain = ({ algorithmParams }: AlgorithmIdentifier): boolean =>
  algorithmParams === undefined || algorithmParams instanceof Null;

const findUnsupported = (
  signed: SignedData,
  { version, sid, digestAlgorithm, signatureAlgorithm }: SignerInfo,
): string | null => {
  const [listed, ...others] = signed.digestAlgorithms;
  const isPss = signatureAlgorithm.algorithmId === OID.rsaPss;
  if (isPss && readPss(signatureAlgorithm)?.hash !== digestAlgorithm.algorithmId)
    return 'is signed with RSA-PSS and parameters that are not written out, or that name several hash functions';
  if (!(sid instanceof IssuerAndSerialNumber)) return 'names its signer by a key identifier';
  if (signed.version !== DATA_VERSION || version !== SIGNER_VERSION)
    return `is of version ${signed.version}, its signer's of ${version}`;
  if (others.length > 0 || listed?.algorithmId !== digestAlgorithm.algorithmId)
    return 'lists other digest algorithms than that of its signer';
  if (![listed, digestAlgorithm, ...(isPss ? [] : [signatureAlgorithm])].every(isPlain))
    return 'has an algorithm with parameters';
  return null;
};

/**
 * Refuses (`unsupported_form`) tokens that may be correct but that auditors cannot verify: `openssl ts` does not support key
 * identifiers, and `verify.py` checks every byte of the time-stamp of a dossier, so an unsigned second algorithm would be an
 * error. The operator sees the refusal at the first stamp, instead of an auditor years later.
 */
const validateForm = (signed: SignedData, signer: SignerInfo): void => {
  const found = findUnsupported(signed, signer);
  if (found !== null)
    throw new TimestampRefused('unsupported_form', `the token ${found}, which dossiers do not support`);
};

/** A parsed TimeStampResp. Only its form is verified. */
export type TimestampResponse = {
  info: TSTInfo;
  /** The signed bytes: the encoded TSTInfo. */
  infoBytes: Buffer;
  signer: SignerInfo;
  /** Exactly the bytes in the token, since the signature covers their hash. */
  certificates: ReadCertificate[];
};

/** Limits the work that a hostile response can cause. */
const MAX_CERTIFICATES = 32;

const refuse = (...[refusal, message]: ConstructorParameters<typeof TimestampRefused>): never => {
  throw new TimestampRefused(refusal, message);
};

/** Runs a decoder on untrusted bytes. Any error that it throws means that the bytes are unreadable. */
const decode = <T>(what: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw new TimestampRefused('unreadable', `${what} cannot be read (${(error as Error).message})`);
  }
};

const readStatus = ({ status }: TimeStampResp): void => {
  const granted = 0;
  // "Granted with modifications" is refused: the status is not signed, so a verifier could not detect a change of it.
  if (status.status === granted && status.failInfo === undefined) return;
  const text = status.statusStrings?.map((line) => line.valueBlock.value).join('; ');
  const bits = status.failInfo
    ? ` failInfo ${Buffer.from(status.failInfo.valueBlock.valueHexView).toString('hex')}`
    : '';
  refuse(
    'not_granted',
    `the authority answered status ${status.status}${bits}${text ? `: ${text.slice(0, 200)}` : ''}`,
  );
};

/** The certificates of ContentInfo → [0] → SignedData → [0]; other forms (attribute certificates) are ignored. */
const certificatesIn = (contentInfo: unknown): ReadCertificate[] => {
  const signedData = elementsOf(elementsOf(contentInfo)[1])[0];
  const set = elementsOf(signedData).find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 0);
  const found = elementsOf(set).filter((block) => block instanceof Sequence);
  if (found.length > MAX_CERTIFICATES) refuse('unreadable', `the token carries ${found.length} certificates`);
  return found.map((block) => decode('a certificate', () => readCertificate(Buffer.from(block.valueBeforeDecodeView))));
};

/**
 * Parses a complete TimeStampResp. Throws {@link TimestampRefused} if it is unreadable or not granted, has no token or not
 * exactly one signer, or has an unsupported form.
 */
export const readResponse = (bytes: Uint8Array): TimestampResponse => {
  const { offset, result } = decode('the answer', () => fromBER(Uint8Array.from(bytes)));
  if (offset !== bytes.length) refuse('unreadable', 'the answer is not one DER value');
  const response = decode('the answer', () => new TimeStampResp({ schema: result }));
  readStatus(response);
  const token = response.timeStampToken ?? refuse('wrong_content', 'the answer is granted and has no token');
  if (token.contentType !== OID.signedData)
    refuse('wrong_content', `the token is ${token.contentType}, not SignedData`);
  const signed = decode('the token', () => new SignedData({ schema: token.content }));
  const { eContentType, eContent } = signed.encapContentInfo;
  if (eContentType !== OID.timestampInfo) refuse('wrong_content', `the token holds ${eContentType}, not a TSTInfo`);
  const [signer, ...others] = signed.signerInfos;
  if (!signer || others.length > 0)
    return refuse('wrong_signers', `the token has ${signed.signerInfos.length} signers`);
  validateForm(signed, signer);
  const infoBytes = Buffer.from(eContent?.getValue() ?? new ArrayBuffer(0));
  return {
    info: decode('the TSTInfo', () => TSTInfo.fromBER(Uint8Array.from(infoBytes))),
    infoBytes,
    signer,
    certificates: certificatesIn(elementsOf(result)[1]),
  };
};
