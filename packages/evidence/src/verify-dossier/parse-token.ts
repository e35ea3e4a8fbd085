import {
  Set as Asn1Set,
  BaseBlock,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  Null,
  OctetString,
  Sequence,
} from 'asn1js';
import { AlgorithmIdentifier } from 'pkijs';
import { elementsOf, hasSameBytes, hexOf, identifierOf, OID, octetsOf } from '../timestamp/object-identifiers.js';
import { readPss } from '../timestamp/read-pss.js';

/** The only signer of a token. */
export type Signer = {
  /** In DER, as the certificate must contain it. */
  issuer: Uint8Array;
  /** In hex without leading zero bytes. */
  serial: string;
  digest: string;
  signatureAlgorithm: AlgorithmIdentifier;
  isPss: boolean;
  signature: OctetString;
  /** The values of the signed attributes by type. */
  attributes: [type: string, values: BaseBlock[]][];
  /** The signed bytes: the attributes as a SET. */
  signedBytes: Uint8Array<ArrayBuffer>;
};

/** A parsed RFC 3161 response. Only its form is verified. */
type ParsedToken = {
  policy: string;
  /** Of the stamped bytes: the identifier of the hash function, and the hash. */
  imprint: { algorithm: string; hash: Uint8Array };
  /** In milliseconds since 1970. */
  genTime: number;
  /** The bytes that the message digest covers: the encoded TSTInfo. */
  infoBytes: Uint8Array;
  signer: Signer;
  /** The certificates in the token, in DER. */
  certificates: Uint8Array[];
  /** Whether the unsigned parts are exactly those of a granted time-stamp. */
  isPlain: boolean;
};

const refuse = (reason: string): never => {
  throw new Error(reason);
};

/** The elements of a block that must be a SEQUENCE or a SET: the tags of a token are not all signed. */
const inside = (kind: typeof Sequence | typeof Asn1Set, block: BaseBlock | undefined): BaseBlock[] =>
  block instanceof kind && block.idBlock.isConstructed ? elementsOf(block) : refuse('not a time-stamp');

const isTagged = (block: BaseBlock | undefined, tag: number) =>
  block?.idBlock.tagClass === 3 && block.idBlock.tagNumber === tag;

const INTEGER_TAG = 0x02;

/** Whether a block is an INTEGER; an ENUMERATED is of the same class in asn1js. */
export const isInteger = (block: BaseBlock | undefined): block is Integer =>
  block instanceof Integer && block.valueBeforeDecodeView[0] === INTEGER_TAG;

const isSequence = (block: BaseBlock): boolean => block instanceof Sequence && block.idBlock.isConstructed;

/** The elements of a block with the tag [0]. */
const insideTag = (block: BaseBlock | undefined): BaseBlock[] =>
  block instanceof Constructed && block.idBlock.isConstructed && isTagged(block, 0)
    ? elementsOf(block)
    : refuse('not a time-stamp');

const isNothing = (parameters: unknown): boolean => parameters === undefined || parameters instanceof Null;

/** The identifier of an algorithm without parameters, or null. */
const plainAlgorithm = (block: unknown): string | null => {
  const [identifier, parameters, ...more] = block instanceof BaseBlock && isSequence(block) ? elementsOf(block) : [];
  return more.length === 0 && isNothing(parameters) ? identifierOf(identifier) : null;
};

const readSigner = (block: BaseBlock | undefined): { signer: Signer; isPlain: boolean } => {
  const [version, sid, digestAlgorithm, attributes, algorithm, signature] = inside(Sequence, block);
  const [issuer, serial] = inside(Sequence, sid);
  const digest = identifierOf(inside(Sequence, digestAlgorithm)[0]);
  const ofSid = issuer instanceof Sequence && issuer.idBlock.isConstructed && isInteger(serial);
  if (!ofSid || digest === null || !isTagged(attributes, 0) || !attributes) return refuse('its signer cannot be read');
  if (!(signature instanceof OctetString) || signature.idBlock.isConstructed)
    return refuse('its signature cannot be read');
  const signatureAlgorithm = new AlgorithmIdentifier({
    schema: algorithm instanceof Sequence ? algorithm : refuse('not a time-stamp'),
  });
  const isPss = signatureAlgorithm.algorithmId === OID.rsaPss;
  if (isPss && readPss(signatureAlgorithm)?.hash !== digest) refuse('RSA-PSS with two hash functions');
  const signedBytes = Uint8Array.from(attributes.valueBeforeDecodeView);
  // Signed are the attributes with the tag of a SET instead of [0] (RFC 5652 §5.4).
  signedBytes[0] = 0x31;
  const signer: Signer = {
    issuer: new Uint8Array(issuer.valueBeforeDecodeView),
    serial: hexOf(serial),
    ...{ digest, signatureAlgorithm, isPss, signature, signedBytes },
    attributes: insideTag(attributes).map((attribute) => {
      const [type, values] = elementsOf(attribute);
      return [identifierOf(type) ?? '', elementsOf(values)];
    }),
  };
  const plain = plainAlgorithm(digestAlgorithm) !== null && (isPss || plainAlgorithm(algorithm) !== null);
  return { signer, isPlain: plain && isInteger(version) && hexOf(version) === '01' };
};

const readInfo = (infoBytes: Uint8Array) => {
  const { offset, result } = fromBER(infoBytes);
  const [version, policy, imprint, , time] = elementsOf(result);
  const [algorithm, hashed] = elementsOf(imprint);
  const hash = octetsOf(hashed);
  if (offset !== infoBytes.length || !isInteger(version) || hexOf(version) !== '01' || hash === null)
    return refuse('not a time-stamp');
  if (!(time instanceof GeneralizedTime) || Number.isNaN(time.toDate().getTime()))
    return refuse('its time cannot be read');
  return {
    policy: identifierOf(policy) ?? '',
    imprint: { algorithm: plainAlgorithm(algorithm) ?? '', hash },
    genTime: time.toDate().getTime(),
  };
};

/**
 * Parses a complete TimeStampResp. Throws an Error with a reason if it has not the form of a time-stamp. The elements are read
 * one by one: the classes of pkijs for SignedData take several times as long, and a dossier may contain thousands of tokens.
 */
export const parseToken = (bytes: Uint8Array): ParsedToken => {
  const { offset, result } = fromBER(bytes.slice());
  if (offset !== bytes.length) refuse('bytes before or after the time-stamp');
  const [statusInfo, token] = inside(Sequence, result);
  const [status, ...statusText] = inside(Sequence, statusInfo);
  const granted = isInteger(status) ? hexOf(status) : '';
  if (granted !== '00' && granted !== '01') refuse('the authority rejected the request');
  const [contentType, content] = inside(Sequence, token);
  const [version, digests, encapsulated, ...rest] = inside(Sequence, insideTag(content)[0]);
  const [infoType, wrapped] = inside(Sequence, encapsulated);
  const infoBytes = octetsOf(insideTag(wrapped)[0]);
  if (identifierOf(contentType) !== OID.signedData || identifierOf(infoType) !== OID.timestampInfo || !infoBytes)
    return refuse('not a time-stamp');
  const signers = inside(Asn1Set, rest.at(-1));
  if (signers.length !== 1) refuse('it does not have one signer');
  const { signer, isPlain } = readSigner(signers[0]);
  const [listed, ...others] = inside(Asn1Set, digests).map(plainAlgorithm);
  const certificates = insideTag(rest.find((block) => isTagged(block, 0)));
  return {
    ...readInfo(infoBytes),
    ...{ infoBytes, signer },
    certificates: certificates.filter(isSequence).map((block) => new Uint8Array(block.valueBeforeDecodeView)),
    isPlain:
      isPlain &&
      // asn1js accepts wrong lengths, which no signature covers; they change when the elements are written again.
      hasSameBytes(new Uint8Array(result.toBER()), bytes) &&
      granted === '00' &&
      statusText.length <= 1 &&
      statusText.every(isSequence) &&
      certificates.every(isSequence) &&
      isInteger(version) &&
      hexOf(version) === '03' &&
      others.length === 0 &&
      listed === signer.digest,
  };
};
