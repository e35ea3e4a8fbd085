import { createPrivateKey, X509Certificate } from 'node:crypto';
import { openText, type Seal, SealedTextError, sealText } from '@vat/domain';
import { BitString, Integer } from 'asn1js';
import { Accuracy, Certificate, PKIStatusInfo, TimeStampReq, TimeStampResp, TSTInfo } from 'pkijs';
import {
  authorityExtensions,
  certificatePem,
  issueCertificate,
  privateKeyPem,
  unitExtensions,
} from './issue-certificate.js';
import { DEVELOPMENT_POLICY, HASH_BYTES, HASHES, newSerial } from './object-identifiers.js';
import { grantedResponse, signToken, tokenAttributes } from './sign-token.js';

/** The development authority's key and certificates in PEM. The holder of the key can stamp anything. */
export type DevelopmentIdentity = {
  key: string;
  certificate: string;
  /** The issuer of `certificate`; the key of the root is discarded. */
  root: string;
};

const VALID_YEARS = 30;

/**
 * Makes a development authority: a root, and a certificate for time-stamping that it issues, valid for 30 years from one day
 * before `now` (clocks differ). It is made once and stored, because its tokens verify only with its own root.
 */
export const makeDevelopmentIdentity = async (now: Date): Promise<DevelopmentIdentity> => {
  const from = new Date(now.getTime() - 86_400_000);
  const to = new Date(from);
  to.setUTCFullYear(from.getUTCFullYear() + VALID_YEARS);
  const root = issueCertificate({
    ...{ subject: 'VAT Validation Service development root (worth nothing)', issuer: null, from, to },
    extensions: authorityExtensions(0),
  });
  const unit = issueCertificate({
    ...{ subject: 'VAT Validation Service development time-stamps (worth nothing)', issuer: root, from, to },
    extensions: unitExtensions(),
  });
  return {
    key: privateKeyPem(unit.key),
    certificate: certificatePem(unit.certificate),
    root: certificatePem(root.certificate),
  };
};

/** A time-stamping authority in this process. `reply` takes a TimeStampReq and returns a TimeStampResp, both DER. */
export type DevelopmentAuthority = { reply: (query: Uint8Array) => Promise<Uint8Array> };

type DevelopmentAuthorityDeps = { identity: DevelopmentIdentity; now: () => Date };

/** Bits of PKIFailureInfo. Source: RFC 3161 §2.4.2. */
const FAILURE = { badAlg: 0, badDataFormat: 5, unacceptedPolicy: 15 } as const;
const REJECTION = 2;

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

/**
 * An authority for installations without a real one. It answers in the same format, so that all code is exercised, but it
 * proves nothing, since the operator of the service holds its key. Its certificates and its policy contain "development".
 * Throws if the identity's key cannot be read.
 */
export const createDevelopmentAuthority = async ({
  identity,
  now,
}: DevelopmentAuthorityDeps): Promise<DevelopmentAuthority> => {
  const certificateIn = (pem: string) => Certificate.fromBER(Uint8Array.from(new X509Certificate(pem).raw));
  const signer = { certificate: certificateIn(identity.certificate), key: createPrivateKey(identity.key) };
  const chain = [signer.certificate, certificateIn(identity.root)];
  return {
    reply: async (query) => {
      const request = readQuery(query);
      if (!request) return reject('badDataFormat');
      const { messageImprint, reqPolicy, nonce, certReq } = request;
      const hash = HASHES[messageImprint.hashAlgorithm.algorithmId];
      if (!hash) return reject('badAlg');
      if (messageImprint.hashedMessage.getValue().byteLength !== HASH_BYTES[hash]) return reject('badDataFormat');
      if (reqPolicy !== undefined && reqPolicy !== DEVELOPMENT_POLICY) return reject('unacceptedPolicy');
      const time = now();
      const info = new TSTInfo({
        ...{ version: 1, policy: DEVELOPMENT_POLICY, messageImprint, genTime: time },
        ...{ serialNumber: new Integer({ valueHex: newSerial() }), accuracy: new Accuracy({ seconds: 1 }) },
        ...(nonce ? { nonce } : {}),
      });
      const content = new Uint8Array(info.toSchema().toBER());
      const attributes = tokenAttributes(content, signer.certificate, time);
      return grantedResponse(signToken({ signer, content, attributes, certificates: certReq ? chain : [] }));
    },
  };
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
