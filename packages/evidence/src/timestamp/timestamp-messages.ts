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
import { bytesOf, elementsOf, hashOfLength, OID } from './object-identifiers.js';
import { readPss } from './read-pss.js';
import { TimestampRefused } from './timestamp.js';

type Query = {
  /** SHA-256, SHA-384 or SHA-512 of what is stamped; its length says which. */
  digest: Uint8Array;
  /** Ties the answer to this query; a DER INTEGER, so the first byte is 0x01 to 0x7f. */
  nonce: Uint8Array;
};

/**
 * A TimeStampReq in DER: the hash, a nonce, and the certificate asked for, so that the token can be verified alone. Throws
 * when the digest is of no such length. Source: RFC 3161 §2.4.1.
 */
export const encodeQuery = ({ digest, nonce }: Query): Buffer => {
  const hash = hashOfLength(digest.length);
  if (hash === null) throw new Error(`no hash function that time-stamps are made with gives ${digest.length} bytes`);
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

const odd = (signed: SignedData, { version, sid, digestAlgorithm, signatureAlgorithm }: SignerInfo): string | null => {
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
 * Refuses (`unsupported_form`) what may be right and cannot be verified by those who get it: `openssl ts` knows no key
 * identifiers, and of a dossier's seal `verify.py` accounts for every byte, so that a second algorithm that nobody signed
 * would be one too many. The operator learns it at the first stamp, and not an auditor years later.
 */
const validateForm = (signed: SignedData, signer: SignerInfo): void => {
  const found = odd(signed, signer);
  if (found !== null) throw new TimestampRefused('unsupported_form', `the token ${found}, which dossiers cannot hold`);
};

/** A TimeStampResp taken apart; nothing of it is verified but that it is one. */
export type TimestampResponse = {
  info: TSTInfo;
  /** The bytes that are signed over: the encoded TSTInfo. */
  infoBytes: Buffer;
  signer: SignerInfo;
  /** As the token carries them, byte for byte, since the signature names the hash of those bytes. */
  certificates: ReadCertificate[];
};

/** More is no chain but an attempt to keep us busy. */
const MAX_CERTIFICATES = 32;

const refuse = (...[refusal, message]: ConstructorParameters<typeof TimestampRefused>): never => {
  throw new TimestampRefused(refusal, message);
};

/** Runs what a decoder does with foreign bytes: whatever it throws means that they are not what they should be. */
const decode = <T>(what: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw new TimestampRefused('unreadable', `${what} cannot be read (${(error as Error).message})`);
  }
};

const readStatus = ({ status }: TimeStampResp): void => {
  const granted = 0;
  // Not "granted with modifications": nothing signs that word, so a verifier could not tell it from a changed one.
  if (status.status === granted && status.failInfo === undefined) return;
  const said = status.statusStrings?.map((text) => text.valueBlock.value).join('; ');
  const bits = status.failInfo
    ? ` failInfo ${Buffer.from(status.failInfo.valueBlock.valueHexView).toString('hex')}`
    : '';
  refuse(
    'not_granted',
    `the authority answered status ${status.status}${bits}${said ? `: ${said.slice(0, 200)}` : ''}`,
  );
};

/** The certificates of ContentInfo → [0] → SignedData → [0]; other forms (attribute certificates) are passed over. */
const certificatesIn = (contentInfo: unknown): ReadCertificate[] => {
  const signedData = elementsOf(elementsOf(contentInfo)[1])[0];
  const set = elementsOf(signedData).find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 0);
  const found = elementsOf(set).filter((block) => block instanceof Sequence);
  if (found.length > MAX_CERTIFICATES) refuse('unreadable', `the token carries ${found.length} certificates`);
  return found.map((block) => decode('a certificate', () => readCertificate(bytesOf(block))));
};

/**
 * Takes a whole TimeStampResp apart. Throws {@link TimestampRefused}: unreadable, not granted, no token, not one signer, a form
 * that not everybody can verify.
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
