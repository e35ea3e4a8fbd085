import { sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { fromBER, Sequence } from 'asn1js';
import { CryptoEngine, ExtKeyUsage } from 'pkijs';
import {
  DEVELOPMENT_POLICY,
  elementsOf,
  extensionOf,
  hasSameBytes,
  hexOf,
  identifierOf,
  OID,
  octetsOf,
} from '../timestamp/object-identifiers.js';
import { type CertificateStore, keyUsageOf, openCertificates, type ReadCertificate } from './find-path.js';
import { isInteger, parseToken, type Signer } from './parse-token.js';

/** A time-stamp that verifies. Times are in milliseconds since 1970. */
export type VerifiedStamp = {
  genTime: number;
  /** When the first certificate between its signer and the trusted one expires. */
  validUntil: number;
  authority: string;
  development: boolean;
};

/** Why a time-stamp does not verify; `unsupported`: this browser cannot verify it. */
type TokenRefusal = 'stamp_of_other' | 'stamp_wrong' | 'stamp_unreadable' | 'unsupported';

export class TokenRefused extends Error {
  override name = 'TokenRefused';
  constructor(
    readonly refusal: TokenRefusal,
    message: string,
  ) {
    super(message);
  }
}

/** A hash function: its name in Web Crypto, and its implementation here, which is not asynchronous. */
type Hash = { name: string; digest: (bytes: Uint8Array) => Uint8Array };
const SHA256: Hash = { name: 'SHA-256', digest: sha256 };
/** The accepted hash functions by identifier. */
const HASHES: Readonly<Record<string, Hash>> = {
  [OID.sha256]: SHA256,
  [OID.sha384]: { name: 'SHA-384', digest: sha384 },
  [OID.sha512]: { name: 'SHA-512', digest: sha512 },
};
/** The attributes that name the signer's certificate, with the hash function of each if it states none. */
const SIGNING_CERTIFICATES: readonly (readonly [type: string, byDefault: Hash])[] = [
  [OID.signingCertificate, { name: 'SHA-1', digest: sha1 }],
  [OID.signingCertificateV2, SHA256],
];
const ECDSA = '1.2.840.10045.4.';
/** digitalSignature and nonRepudiation. */
const SIGNING = 0b1100_0000;
/** Signature algorithms other than RSA-PSS, with their hash function, or null for that of the signer. */
const SIGNATURES: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.1': null,
  [OID.rsaWithSha256]: 'SHA-256',
  '1.2.840.113549.1.1.12': 'SHA-384',
  '1.2.840.113549.1.1.13': 'SHA-512',
  [OID.ecdsaWithSha256]: 'SHA-256',
  '1.2.840.10045.4.3.3': 'SHA-384',
  '1.2.840.10045.4.3.4': 'SHA-512',
};

const refuse = (refusal: TokenRefusal, message: string): never => {
  throw new TokenRefused(refusal, message);
};

const hashNamed = (algorithm: string): Hash =>
  HASHES[algorithm] ?? refuse('stamp_unreadable', `it uses the hash function ${algorithm}`);

/** The single value of a signed attribute; undefined if it is missing. */
const attribute = ({ attributes }: Signer, type: string): unknown => {
  const [found, ...again] = attributes.filter(([other]) => other === type);
  if (again.length > 0 || (found && found[1].length !== 1)) refuse('stamp_wrong', 'it has an attribute twice');
  return found?.[1][0];
};

/** The signature must name the certificate, or another one with the same key could replace it (RFC 5035 §3). */
const checkNamed = (signer: Signer, { der }: ReadCertificate): void => {
  const named = SIGNING_CERTIFICATES.flatMap(([type, byDefault]) => {
    const value = attribute(signer, type);
    return value === undefined ? [] : [{ value, byDefault }];
  });
  if (named.length === 0) refuse('stamp_wrong', 'its signature does not name one of its certificates');
  for (const { value, byDefault } of named) {
    const [first, second] = elementsOf(elementsOf(elementsOf(value)[0])[0]);
    const algorithm = identifierOf(elementsOf(first)[0]);
    const hash = algorithm === null ? byDefault : hashNamed(algorithm);
    if (!hasSameBytes(octetsOf(algorithm === null ? first : second), hash.digest(der)))
      refuse('stamp_wrong', 'its signature names another certificate');
  }
};

/** The certificate must be for time-stamping alone (RFC 3161 §2.3). */
const checkPurpose = (certificate: ReadCertificate): void => {
  const purpose = extensionOf(certificate, OID.extendedKeyUsage);
  const purposes = purpose?.parsedValue instanceof ExtKeyUsage ? purpose.parsedValue.keyPurposes : [];
  const usage = keyUsageOf(certificate);
  const signs = usage === null || ((usage & SIGNING) !== 0 && (usage & ~SIGNING) === 0);
  if (!purpose?.critical || purposes.length !== 1 || purposes[0] !== OID.timeStamping || !signs)
    refuse('stamp_wrong', 'its certificate is not for time-stamping alone');
};

/** Whether the two numbers of an ECDSA signature are written in DER: pkijs accepts other forms. */
const isStrictEcdsa = (signature: Uint8Array): boolean => {
  const { result } = fromBER(signature.slice());
  const isSequence = result instanceof Sequence && result.idBlock.isConstructed;
  const numbers = isSequence ? elementsOf(result) : [];
  return numbers.length === 2 && numbers.every(isInteger) && hasSameBytes(new Uint8Array(result.toBER()), signature);
};

const checkSignature = async (engine: CryptoEngine, signer: Signer, { fields }: ReadCertificate): Promise<void> => {
  const { signatureAlgorithm, isPss, signature, signedBytes } = signer;
  const { name } = hashNamed(signer.digest);
  const stated = isPss ? name : SIGNATURES[signatureAlgorithm.algorithmId];
  if (stated === undefined || (stated ?? name) !== name)
    refuse('stamp_wrong', 'its signature is not of the kind that it names');
  const key = fields.subjectPublicKeyInfo;
  if (key.algorithm.algorithmId === OID.ecKey && !isStrictEcdsa(octetsOf(signature) ?? new Uint8Array()))
    refuse('stamp_wrong', 'its signature is invalid');
  let valid: boolean;
  try {
    valid = await engine.verifyWithPublicKey(signedBytes, signature, key, signatureAlgorithm, name);
  } catch (error) {
    const curve = identifierOf(key.algorithm.algorithmParams);
    // pkijs knows the curves of Web Crypto; for others it returns an object without a name.
    if (curve !== null && !('name' in engine.getAlgorithmByOID(curve, false)))
      refuse('unsupported', `it uses the elliptic curve ${curve}, which browsers do not support`);
    throw new TokenRefused('stamp_wrong', `its signature cannot be read (${(error as Error).message})`);
  }
  if (!valid) refuse('stamp_wrong', 'its signature is invalid');
};

const authorityOf = ({ fields }: ReadCertificate): string => {
  const name = fields.subject.typesAndValues.findLast(({ type }) => type === OID.commonName)?.value.valueBlock.value;
  return name === undefined ? 'an authority without a name' : String(name);
};

type StampedBytes = {
  token: Uint8Array;
  stamped: Uint8Array;
  /** The only file without a checksum is SHA256SUMS.tsr, so the parts that its signature does not cover are checked too. */
  isSeal: boolean;
};

type VerifierOptions = { trusted: readonly Uint8Array[]; intermediates: readonly Uint8Array[] };

/** Whether the signature of a certificate has its only form. */
const isStrict = ({ fields }: ReadCertificate): boolean => {
  const { unusedBits, valueHexView } = fields.signatureValue.valueBlock;
  if (unusedBits !== 0 || !fields.signatureAlgorithm.isEqual(fields.signature)) return false;
  return !fields.signature.algorithmId.startsWith(ECDSA) || isStrictEcdsa(valueHexView);
};

/** The certificates of the token that the signature does not need must be known, or lead to a trusted one. */
const checkUnsigned = async (
  store: CertificateStore,
  certificates: readonly ReadCertificate[],
  known: ReadonlySet<string>,
  at: number,
): Promise<void> => {
  for (const certificate of certificates)
    if (
      !known.has(certificate.print) &&
      !(isStrict(certificate) && (await store.findPath(certificate, certificates, at)))
    )
      refuse('stamp_unreadable', 'one of its certificates was changed, or is not in certs/ and leads to no known root');
};

/**
 * Verifies time-stamps with Web Crypto, independently of OpenSSL: form, stamped content, signer, purpose, signature, and the path
 * to a trusted certificate at the stated time. Throws {@link TokenRefused}. Needs a secure context (https, or this machine).
 */
export const openTokenVerifier = ({ trusted, intermediates }: VerifierOptions) => {
  const engine = new CryptoEngine({ name: 'web', crypto: globalThis.crypto });
  const store = openCertificates({ trusted, intermediates, engine });
  const known = new Set([...trusted, ...intermediates].map((der) => store.read(der).print));

  const readCertificate = (der: Uint8Array): ReadCertificate => {
    try {
      return store.read(der);
    } catch {
      return refuse('stamp_wrong', 'one of its certificates cannot be read');
    }
  };

  const verify = async ({ token, stamped, isSeal }: StampedBytes): Promise<VerifiedStamp> => {
    const parsed = parseToken(token);
    const { imprint, infoBytes, signer, genTime } = parsed;
    if (!hasSameBytes(imprint.hash, hashNamed(imprint.algorithm).digest(stamped))) refuse('stamp_of_other', '');
    if (isSeal && !parsed.isPlain) refuse('stamp_unreadable', 'it does not have the form of a time-stamp');
    const certificates = parsed.certificates.map(readCertificate);
    const [certificate, ...same] = certificates.filter(
      ({ fields }) =>
        hexOf(fields.serialNumber) === signer.serial &&
        hasSameBytes(new Uint8Array(fields.issuer.valueBeforeDecode), signer.issuer),
    );
    if (!certificate || same.length > 0) return refuse('stamp_wrong', 'its signer is none of its certificates');
    if (identifierOf(attribute(signer, OID.contentType)) !== OID.timestampInfo)
      refuse('stamp_wrong', 'it signs something else');
    if (!hasSameBytes(octetsOf(attribute(signer, OID.messageDigest)), hashNamed(signer.digest).digest(infoBytes)))
      refuse('stamp_wrong', 'its signature covers other content');
    checkNamed(signer, certificate);
    await checkSignature(engine, signer, certificate);
    checkPurpose(certificate);
    const path = await store.findPath(certificate, certificates, genTime);
    if (!path) return refuse('stamp_wrong', 'its certificate does not lead to a trusted root, or was not valid then');
    if (isSeal) await checkUnsigned(store, certificates, known, genTime);
    return {
      genTime,
      validUntil: Math.min(...path.map(({ fields }) => fields.notAfter.value.getTime())),
      authority: authorityOf(certificate),
      development: parsed.policy === DEVELOPMENT_POLICY,
    };
  };

  return async (given: StampedBytes): Promise<VerifiedStamp> => {
    try {
      return await verify(given);
    } catch (error) {
      if (error instanceof TokenRefused) throw error;
      // Untrusted bytes can cause any error.
      throw new TokenRefused('stamp_unreadable', (error as Error).message);
    }
  };
};
