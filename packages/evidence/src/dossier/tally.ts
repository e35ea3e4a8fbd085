import { X509Certificate } from 'node:crypto';
import type { CheckBody } from '@vat/domain';
import type { DossierCheck } from './dossier-source.js';

/** What a dossier holds, as `manifest.json` counts it. */
type DossierCounts = {
  checks: number;
  valid: number;
  invalid: number;
  malformed: number;
  exchanges: number;
  timestamps: number;
  anchors: number;
  proofs: number;
  requests: number;
  watch_changes: number;
};

/** The counts and the span of a dossier that is being written; `first` and `last` are `checked_at` of its checks. */
export type DossierTally = { counts: DossierCounts; first: string | null; last: string | null };

/** The tally of a dossier with nothing in it. */
export const emptyTally = (): DossierTally => ({
  counts: {
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
  },
  first: null,
  last: null,
});

/** Adds one check to `tally`. */
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
