import { hash } from 'node:crypto';
import { tokenCertificates } from '../timestamp/certificates.js';
import { verifyTimestamp } from '../timestamp/verify-timestamp.js';
import type { DossierAnchor } from './dossier-source.js';

type FindRenewalsDeps = {
  /** Reads anchors by `seq`, in any order. */
  readAnchors: (seqs: readonly number[]) => Promise<DossierAnchor[]>;
  /** For each authority, the `seq` of the last anchor after `seq` that it stamped until `at`. */
  lastStamped: (seq: number, at: Date) => Promise<number[]>;
  /** PEM; see `verifyTimestamp`. */
  trustedRoots: readonly string[];
};

/** The later anchors that a dossier contains because they renew expired time-stamps, and the first anchor that they renew. */
export type Renewals = { anchors: number[]; first: number };

const ANCHORS_PER_PAGE = 200;

/** When the certificates of a token expire, in milliseconds since 1970; null if it does not verify. */
const expiryOf = ({ body, token }: DossierAnchor, trustedRoots: readonly string[]): number | null => {
  if (token === null) return null;
  try {
    const verified = verifyTimestamp({ tokenBytes: token, data: body });
    if (verified.development || trustedRoots.length === 0) return verified.validUntil.getTime();
    return verifyTimestamp({ tokenBytes: token, data: body, trustedRoots }).validUntil.getTime();
  } catch {
    return null;
  }
};

/**
 * Finds the later anchors that renew the expired time-stamps of a dossier's anchors, as `evaluateStamps` requires: for each
 * expiry, the last anchor that each authority stamped before it, if that one is valid longer; and so on for those of them
 * that have expired too. Null if there is nothing to renew. One token of each set of certificates is verified.
 */
export const findRenewals =
  ({ readAnchors, lastStamped, trustedRoots }: FindRenewalsDeps) =>
  async (stamped: readonly number[], now: Date): Promise<Renewals | null> => {
    const expiries = new Map<string, number>();
    const expiryOfAnchor = (anchor: DossierAnchor): number | null => {
      if (anchor.token === null) return null;
      const certificates = hash('sha256', tokenCertificates(anchor.token).join(''));
      const expiry = expiries.get(certificates) ?? expiryOf(anchor, trustedRoots);
      if (expiry !== null) expiries.set(certificates, expiry);
      return expiry;
    };
    /** The first anchor of each expiry that has passed. */
    const expired = new Map<number, number>();
    const add = (anchor: DossierAnchor): void => {
      const expiry = expiryOfAnchor(anchor);
      if (expiry !== null && expiry < now.getTime())
        expired.set(expiry, Math.min(anchor.seq, expired.get(expiry) ?? anchor.seq));
    };
    for (let from = 0; from < stamped.length; from += ANCHORS_PER_PAGE)
      for (const anchor of await readAnchors(stamped.slice(from, from + ANCHORS_PER_PAGE))) add(anchor);

    const found = new Set<number>();
    // From the earliest expiry on: what renews it expires later, so every expiry is complete when its turn comes.
    for (let turn = Math.min(...expired.keys()); Number.isFinite(turn); ) {
      const expiry = turn;
      for (const later of await readAnchors(await lastStamped(expired.get(expiry) ?? 0, new Date(expiry)))) {
        if ((expiryOfAnchor(later) ?? 0) <= expiry) continue;
        found.add(later.seq);
        add(later);
      }
      turn = Math.min(...[...expired.keys()].filter((other) => other > expiry));
    }
    if (found.size === 0) return null;
    return { anchors: [...found].sort((one, other) => one - other), first: Math.min(...expired.values()) };
  };
