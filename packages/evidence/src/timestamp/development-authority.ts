import { createHash, createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { openText, type Seal, SealedTextError, sealText } from '@vat/domain';
import { BitString, Integer, ObjectIdentifier, OctetString, Sequence, UTCTime } from 'asn1js';
import {
  Accuracy,
  Attribute,
  BasicConstraints,
  Certificate,
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
import { DEVELOPMENT_POLICY, HASH_BYTES, HASHES, OID, type TimestampHash } from './object-identifiers.js';

/** The development authority's key and certificates in PEM. The holder of the key can stamp anything. */
export type DevelopmentIdentity = {
  key: string;
  certificate: string;
  /** The issuer of `certificate`; the key of the root is discarded. */
  root: string;
};

/** The signature schemes of real authorities. The development authority supports all of them for tests. */
export type SignatureScheme = 'ecdsa' | 'rsa' | 'rsa-pss';

const RSA = { modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' };
const KEYS = {
  ecdsa: { name: 'ECDSA', namedCurve: 'P-256' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', ...RSA },
  'rsa-pss': { name: 'RSA-PSS', ...RSA },
} as const satisfies Record<SignatureScheme, object>;
const VALID_YEARS = 30;

const pem = (label: string, der: ArrayBuffer) =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
const certificatePem = (certificate: Certificate) => pem('CERTIFICATE', certificate.toSchema(true).toBER());
const critical = (extnID: string, extnValue: ArrayBuffer) => new Extension({ extnID, critical: true, extnValue });
const keyUsage = (bits: number, unusedBits: number) =>
  critical(OID.keyUsage, new BitString({ valueHex: Uint8Array.of(bits), unusedBits }).toBER());
const constraints = (cA: boolean) =>
  critical(OID.basicConstraints, new BasicConstraints(cA ? { cA, pathLenConstraint: 0 } : { cA }).toSchema().toBER());

/**
 * Makes a development authority: a root, and a certificate for time-stamping that it issues, valid for 30 years from one day
 * before `now` (clocks differ). It is made once and stored, because its tokens verify only with its own root.
 */
export const makeDevelopmentIdentity = async (
  now: Date,
  scheme: SignatureScheme = 'ecdsa',
): Promise<DevelopmentIdentity> => {
  const from = new Date(now.getTime() - 86_400_000);
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + VALID_YEARS);
  const newKeys = () => webcrypto.subtle.generateKey(KEYS[scheme], true, ['sign', 'verify']);
  const [rootKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  const root = await issueCertificate({
    ...{ subject: 'VAT Validation Service development root (worth nothing)', from, to },
    ...{ publicKey: rootKeys.publicKey, issuer: null, signingKey: rootKeys.privateKey },
    extensions: [constraints(true), keyUsage(0b0000_0110, 1)], // keyCertSign, cRLSign
  });
  const purpose = new ExtKeyUsage({ keyPurposes: [OID.timeStamping] }).toSchema().toBER();
  const certificate = await issueCertificate({
    ...{ subject: 'VAT Validation Service development time-stamps (worth nothing)', from, to },
    ...{ publicKey: keys.publicKey, issuer: root, signingKey: rootKeys.privateKey },
    extensions: [constraints(false), keyUsage(0b1000_0000, 7), critical(OID.extendedKeyUsage, purpose)],
  });
  return {
    key: pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    certificate: certificatePem(certificate),
    root: certificatePem(root),
  };
};

/** A time-stamping authority in this process. `reply` takes a TimeStampReq and returns a TimeStampResp, both DER. */
export type DevelopmentAuthority = { reply: (query: Uint8Array) => Promise<Uint8Array> };

type DevelopmentAuthorityDeps = {
  identity: DevelopmentIdentity;
  now: () => Date;
  /** The scheme of the identity's key, and the hash function of the signature. Default ECDSA, SHA-256. */
  scheme?: SignatureScheme;
  hash?: TimestampHash;
};

/** Bits of PKIFailureInfo. Source: RFC 3161 §2.4.2. */
const FAILURE = { badAlg: 0, badDataFormat: 5, unacceptedPolicy: 15 } as const;
const REJECTION = 2;

/** Web Crypto's name of a hash function. */
const WEB_NAMES: Readonly<Record<TimestampHash, string>> = { sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
const WEB_SCHEMES = { ecdsa: 'ECDSA', rsa: 'RSASSA-PKCS1-v1_5', 'rsa-pss': 'RSA-PSS' } as const;

const digestOf = (hash: TimestampHash, bytes: Uint8Array) => Uint8Array.from(createHash(hash).update(bytes).digest());
const certificateIn = (pem: string) => Certificate.fromBER(Uint8Array.from(new X509Certificate(pem).raw));

const reject = (failure: keyof typeof FAILURE): Buffer => {
  const bit = FAILURE[failure];
  const bytes = new Uint8Array((bit >> 3) + 1);
  bytes[bit >> 3] = 0x80 >> (bit & 7);
  const failInfo = new BitString({ unusedBits: 7 - (bit & 7), valueHex: bytes });
  const status = new PKIStatusInfo({ status: REJECTION, failInfo });
  return Buffer.from(new TimeStampResp({ status }).toSchema().toBER());
};

const readQuery = (query: Uint8Array): TimeStampReq | null => {
  try {
    return TimeStampReq.fromBER(Uint8Array.from(query));
  } catch {
    return null;
  }
};

/** SigningCertificateV2 with the default hash, SHA-256; clients reject tokens without it. Source: RFC 5035 §3. */
const signingCertificate = (certificateDer: Uint8Array): Sequence => {
  const hash = new Sequence({ value: [new OctetString({ valueHex: digestOf('sha256', certificateDer) })] });
  return new Sequence({ value: [new Sequence({ value: [hash] })] });
};

/**
 * An authority for installations without a real one. It answers in the same format, so that all code is exercised, but it
 * proves nothing, since the operator of the service holds its key. Its certificates and its policy contain "development".
 * Throws if the identity's key cannot be read.
 */
export const createDevelopmentAuthority = async ({
  identity,
  now,
  scheme = 'ecdsa',
  hash = 'sha256',
}: DevelopmentAuthorityDeps): Promise<DevelopmentAuthority> => {
  const pkcs8 = createPrivateKey(identity.key).export({ type: 'pkcs8', format: 'der' });
  const algorithm = { name: WEB_SCHEMES[scheme], namedCurve: 'P-256', hash: WEB_NAMES[hash] };
  const key = await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']);
  const certificate = certificateIn(identity.certificate);
  const certificateDer = new X509Certificate(identity.certificate).raw;
  const root = certificateIn(identity.root);

  const sign = async (info: Uint8Array, time: Date, withCertificates: boolean): Promise<SignedData> => {
    const attributes = [
      new Attribute({ type: OID.contentType, values: [new ObjectIdentifier({ value: OID.timestampInfo })] }),
      new Attribute({ type: OID.signingTime, values: [new UTCTime({ valueDate: time })] }),
      new Attribute({ type: OID.messageDigest, values: [new OctetString({ valueHex: digestOf(hash, info) })] }),
      new Attribute({ type: OID.signingCertificateV2, values: [signingCertificate(certificateDer)] }),
    ];
    // A SET in DER is sorted by its encoded elements.
    const encoded = attributes.map((attribute) => ({ attribute, bytes: Buffer.from(attribute.toSchema().toBER()) }));
    const sorted = encoded.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ attribute }) => attribute);
    const signed = new SignedData({
      version: 3,
      encapContentInfo: new EncapsulatedContentInfo({
        eContentType: OID.timestampInfo,
        eContent: new OctetString({ valueHex: Uint8Array.from(info) }),
      }),
      signerInfos: [
        new SignerInfo({
          version: 1,
          sid: new IssuerAndSerialNumber({ issuer: certificate.issuer, serialNumber: certificate.serialNumber }),
          signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes: sorted }),
        }),
      ],
      ...(withCertificates ? { certificates: [certificate, root] } : {}),
    });
    await signed.sign(key, 0, WEB_NAMES[hash]);
    return signed;
  };

  const reply = async (query: Uint8Array): Promise<Uint8Array> => {
    const request = readQuery(query);
    if (!request) return reject('badDataFormat');
    const { hashAlgorithm, hashedMessage } = request.messageImprint;
    const imprintHash = HASHES[hashAlgorithm.algorithmId];
    if (!imprintHash) return reject('badAlg');
    if (hashedMessage.getValue().byteLength !== HASH_BYTES[imprintHash]) return reject('badDataFormat');
    if (request.reqPolicy !== undefined && request.reqPolicy !== DEVELOPMENT_POLICY) return reject('unacceptedPolicy');
    const time = now();
    const serial = randomBytes(16);
    serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40; // positive, and always of the same length
    const info = new TSTInfo({
      ...{ version: 1, policy: DEVELOPMENT_POLICY, messageImprint: request.messageImprint, genTime: time },
      serialNumber: new Integer({ valueHex: Uint8Array.from(serial) }),
      accuracy: new Accuracy({ seconds: 1 }),
      ...(request.nonce ? { nonce: request.nonce } : {}),
    });
    const signed = await sign(new Uint8Array(info.toSchema().toBER()), time, request.certReq === true);
    const token = new ContentInfo({ contentType: OID.signedData, content: signed.toSchema(true) });
    const response = new TimeStampResp({ status: new PKIStatusInfo({ status: 0 }), timeStampToken: token });
    return Buffer.from(response.toSchema().toBER());
  };
  return { reply };
};

/** The identity as it is stored: the certificates in PEM, and the key sealed under SECRET_KEY. */
export type SealedIdentity = { certificate: string; root: string; keySealed: Uint8Array };

type OpenDevelopmentAuthorityDeps = {
  find: () => Promise<SealedIdentity | null>;
  /** Stores an identity in place of `replaced`. If several processes do so, the first one wins. */
  store: (made: SealedIdentity, replaced: SealedIdentity | null, now: Date) => Promise<void>;
  /** SECRET_KEY. */
  masterKey: string;
  /** SECRET_KEY_PREVIOUS: opens a key that was sealed before SECRET_KEY was changed. */
  previousKey?: string | undefined;
  now: () => Date;
};

/**
 * Opens the development authority that all processes of a deployment share. The first process that needs it makes it. It is
 * made again if no configured key opens the stored one; its earlier tokens still verify, because they contain their
 * certificates. Throws SealedTextError if the stored identity is damaged or processes have different keys.
 */
export const openDevelopmentAuthority =
  ({ find, store, masterKey, previousKey, now }: OpenDevelopmentAuthorityDeps) =>
  async (): Promise<DevelopmentAuthority> => {
    const sealOf = (certificate: string): Seal => ({
      ...{ masterKey, purpose: 'development authority', boundTo: certificate },
    });
    const open = ({ certificate, root, keySealed }: SealedIdentity): DevelopmentIdentity => ({
      ...{ certificate, root, key: openText({ ...sealOf(certificate), previousKey }, keySealed) },
    });
    const opened = (stored: SealedIdentity | null): DevelopmentIdentity | null => {
      try {
        return stored && open(stored);
      } catch (error) {
        if (error instanceof SealedTextError && error.reason === 'key') return null;
        throw error;
      }
    };

    const stored = await find();
    const known = opened(stored);
    if (known) return createDevelopmentAuthority({ identity: known, now });
    const { key, certificate, root } = await makeDevelopmentIdentity(now());
    await store({ certificate, root, keySealed: sealText(sealOf(certificate), key) }, stored, now());
    const shared = await find();
    if (!shared) throw new Error('the development authority was not stored');
    return createDevelopmentAuthority({ identity: open(shared), now });
  };
