import { X509Certificate } from 'node:crypto';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * `certificates` with those of `known` that issued any of them, directly or not: a root that is trusted is often not in the
 * tokens that lead to it. PEM, any number of certificates in each; the result has one in each, none twice.
 */
export const withIssuers = (certificates: readonly string[], known: readonly string[]): string[] => {
  const read = (pems: readonly string[]) =>
    pems.flatMap((pem) => pem.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
  const all = new Map(read(certificates).map((one) => [one.fingerprint256, one]));
  let candidates = read(known);
  for (let added = true; added; ) {
    const issuers = candidates.filter((one) =>
      [...all.values()].some((below) => below.checkIssued(one) && below.verify(one.publicKey)),
    );
    candidates = candidates.filter((one) => !issuers.includes(one));
    for (const issuer of issuers) all.set(issuer.fingerprint256, issuer);
    added = issuers.length > 0;
  }
  return [...all.values()].map(String);
};
