import { X509Certificate } from 'node:crypto';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Certificates as a verifier wants them: each once, the topmost that is known of every chain apart from those below. An
 * authority's root is often not in its tokens; then whatever comes next is what there is to trust. A root that another one
 * certified too (cross-signed) is there to trust once, as itself. `pems`: any number of certificates in each, in any order.
 * Throws when one cannot be read.
 */
export const sortCertificates = (pems: readonly string[]): { roots: string[]; intermediates: string[] } => {
  const blocks = new Set(pems.flatMap((pem) => pem.match(BLOCK) ?? []));
  const all = [...blocks].map((pem) => new X509Certificate(pem));
  const issuedByAnother = (one: X509Certificate) =>
    all.some((other) => other !== one && other.ca && other.subject === one.issuer && one.verify(other.publicKey));
  const isRootToo = ({ subject, publicKey }: X509Certificate) =>
    all.some((other) => other.subject === subject && other.issuer === subject && other.publicKey.equals(publicKey));
  const lower = new Set(all.filter((one) => one.subject !== one.issuer && (issuedByAnother(one) || isRootToo(one))));
  return {
    roots: all.filter((one) => !lower.has(one)).map(String),
    intermediates: all.filter((one) => lower.has(one)).map(String),
  };
};
