import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { BitString } from 'asn1js';
import { BasicConstraints, Certificate, type ICryptoEngine } from 'pkijs';
import { extensionOf, isUnderstood, OID } from '../timestamp/object-identifiers.js';

/** A certificate. `print`: the SHA-256 of its bytes. */
export type ReadCertificate = { fields: Certificate; der: Uint8Array; print: string };

const KEY_CERT_SIGN = 0b0000_0100;

/** The first byte of KeyUsage; null without that extension. */
export const keyUsageOf = (certificate: ReadCertificate): number | null => {
  const usage = extensionOf(certificate, OID.keyUsage)?.parsedValue;
  return usage instanceof BitString ? (usage.valueBlock.valueHexView[0] ?? 0) : null;
};

/** How many authorities may be below this one; null if it is none. */
const authorityDepth = (certificate: ReadCertificate): number | null => {
  const found = extensionOf(certificate, OID.basicConstraints)?.parsedValue;
  if (!(found instanceof BasicConstraints) || !found.cA) return null;
  const usage = keyUsageOf(certificate);
  if (usage !== null && (usage & KEY_CERT_SIGN) === 0) return null;
  return found.pathLenConstraint === undefined ? Number.POSITIVE_INFINITY : Number(found.pathLenConstraint);
};

const isValidAt = ({ fields }: ReadCertificate, at: number) =>
  fields.notBefore.value.getTime() <= at && at <= fields.notAfter.value.getTime();

/** Certificates that were read and signatures that were verified, so that each is done once for all tokens. */
export type CertificateStore = {
  read: (der: Uint8Array) => ReadCertificate;
  /** Resolves to the certificates from `signer` to a trusted one, all valid at `at` (ms), or to null. */
  findPath: (
    signer: ReadCertificate,
    others: readonly ReadCertificate[],
    at: number,
  ) => Promise<ReadCertificate[] | null>;
};

type StoreOptions = {
  /** Trusted certificates (DER). They need not be roots. */
  trusted: readonly Uint8Array[];
  /** Others that may be on a path. */
  intermediates: readonly Uint8Array[];
  engine: ICryptoEngine;
};

export const openCertificates = ({ trusted, intermediates, engine }: StoreOptions): CertificateStore => {
  const byPrint = new Map<string, ReadCertificate>();
  const links = new Map<string, Promise<boolean>>();
  const paths = new Map<string, ReadCertificate[]>();
  const read = (der: Uint8Array): ReadCertificate => {
    const print = bytesToHex(sha256(der));
    const known = byPrint.get(print) ?? { fields: Certificate.fromBER(der.slice()), der, print };
    byPrint.set(print, known);
    return known;
  };
  const roots = trusted.map(read);
  const known = [...roots, ...intermediates.map(read)];
  const isTrusted = ({ print }: ReadCertificate) => roots.some((root) => root.print === print);
  const issued = (issuer: ReadCertificate, child: ReadCertificate): Promise<boolean> => {
    const key = `${issuer.print} ${child.print}`;
    const verified = links.get(key) ?? child.fields.verify(issuer.fields, engine).catch(() => false);
    links.set(key, verified);
    return verified;
  };

  const search = async (signer: ReadCertificate, others: readonly ReadCertificate[], at: number) => {
    const seen = new Set([signer.print]);
    const climb = async (path: readonly ReadCertificate[], top: ReadCertificate): Promise<ReadCertificate[] | null> => {
      if (isTrusted(top)) return [...path];
      for (const issuer of [...known, ...others]) {
        const depth = authorityDepth(issuer);
        if (seen.has(issuer.print) || depth === null || depth < path.length - 1) continue;
        if (!top.fields.issuer.isEqual(issuer.fields.subject) || !isValidAt(issuer, at) || !isUnderstood(issuer))
          continue;
        if (!(await issued(issuer, top))) continue;
        seen.add(issuer.print);
        const complete = await climb([...path, issuer], issuer);
        if (complete) return complete;
      }
      return null;
    };
    return isValidAt(signer, at) && isUnderstood(signer) ? climb([signer], signer) : null;
  };

  return {
    read,
    findPath: async (signer, others, at) => {
      const earlier = paths.get(signer.print);
      if (earlier?.every((one) => isValidAt(one, at))) return earlier;
      const path = await search(signer, others, at);
      if (path) paths.set(signer.print, path);
      return path;
    },
  };
};
