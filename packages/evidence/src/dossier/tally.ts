import { X509Certificate } from 'node:crypto';
import type { CheckBody } from '@vat/domain';
import type { DossierCheck } from './dossier-source.js';

/** The counts of a dossier in `manifest.json`. */
const noCounts = () => ({
  checks: 0,
  valid: 0,
  invalid: 0,
  malformed: 0,
  exchanges: 0,
  timestamps: 0,
  anchors: 0,
  proofs: 0,
  requests: 0,
  watch_changes: 0,
});

/** The counts of a dossier that is being written. `first` and `last`: earliest and latest `checked_at` of its checks. */
export type DossierTally = { counts: ReturnType<typeof noCounts>; first: string | null; last: string | null };

export const emptyTally = (): DossierTally => ({ counts: noCounts(), first: null, last: null });

export const tallyCheck = (tally: DossierTally, check: DossierCheck, body: CheckBody): void => {
  const { counts } = tally;
  counts.checks += 1;
  counts[body.verdict] += 1;
  counts.exchanges += check.exchanges.length;
  counts.timestamps += check.token ? 1 : 0;
  counts.proofs += check.proof ? 1 : 0;
  const at = body.checked_at;
  if (tally.first === null || at < tally.first) tally.first = at;
  if (tally.last === null || at > tally.last) tally.last = at;
};

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Sorts certificates for a verifier: each once, the topmost known one of every chain in `roots`, the others in
 * `intermediates`. An authority's root is often not in its tokens; then the topmost certificate below it is listed as root.
 * A root that another root also certified (cross-signed) is listed once, as a root. `pems`: any number of certificates in
 * each, in any order. Throws if one cannot be read.
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
