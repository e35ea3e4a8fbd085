import { fromBER, Sequence } from 'asn1js';
import { SignedData, type SignerInfo, TimeStampResp, TSTInfo } from 'pkijs';
import { judgeForm } from './judge-form.js';
import { OID } from './object-identifiers.js';
import { bytesOf, elementsOf } from './read-block.js';
import { type ReadCertificate, readCertificate } from './read-certificate.js';
import { TimestampRefused } from './timestamp-refused.js';

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
  judgeForm(signed, signer);
  const infoBytes = Buffer.from(eContent?.getValue() ?? new ArrayBuffer(0));
  return {
    info: decode('the TSTInfo', () => TSTInfo.fromBER(Uint8Array.from(infoBytes))),
    infoBytes,
    signer,
    certificates: certificatesIn(elementsOf(result)[1]),
  };
};
