import { Integer, OctetString, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  type Attribute,
  type Certificate,
  type Extension,
  PKIStatusInfo,
  type SignedData,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import { type Holder, issueCertificate } from './issue-certificate.js';
import { grantedResponse, signToken, tokenAttributes } from './sign-token.js';

const DAY_MS = 86_400_000;

type IssueHolder = {
  subject: string;
  issuer: Holder | null;
  from?: Date;
  to?: Date;
  extensions: Extension[];
};

/** Issues a certificate for a new key, valid for a day unless stated otherwise. */
export const issueHolder = ({
  from = new Date(Date.now() - DAY_MS),
  to = new Date(Date.now() + DAY_MS),
  ...rest
}: IssueHolder): Holder => issueCertificate({ ...rest, from, to });

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
export const forgeReply = (
  query: Uint8Array,
  unit: Holder,
  chain: readonly Holder[],
  forgery: Forgery = {},
): Uint8Array => {
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
  const honest = tokenAttributes(infoBytes, unit.certificate, new Date());
  const signed = signToken({
    signer: unit,
    content: forgery.tampered?.(infoBytes) ?? infoBytes,
    contentType: forgery.contentType,
    attributes: forgery.attributes?.(honest) ?? honest,
    certificates: forgery.certificates ?? [unit.certificate, ...chain.map(({ certificate }) => certificate)],
  });
  const [signer] = signed.signerInfos;
  if (!signer) throw new Error('a token without a signer');
  if (forgery.signature)
    signer.signature = new OctetString({
      valueHex: Uint8Array.from(forgery.signature(new Uint8Array(signer.signature.getValue()))),
    });
  if (forgery.signatureAlgorithm)
    signer.signatureAlgorithm = new AlgorithmIdentifier({ algorithmId: forgery.signatureAlgorithm });
  if (forgery.digestAlgorithm)
    signer.digestAlgorithm = new AlgorithmIdentifier({ algorithmId: forgery.digestAlgorithm });
  signed.signerInfos = Array.from({ length: forgery.signers ?? 1 }, () => signer);
  forgery.signed?.(signed);
  return grantedResponse(signed);
};
