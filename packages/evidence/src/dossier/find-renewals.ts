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

/** A check with a time-stamp of its own, which its anchor or a later one renews. */
export type StampedCheck = { bytes: Uint8Array; token: Uint8Array; anchorSeq: number };

/** The anchors that a dossier contains because they renew expired time-stamps, and an anchor at or before all that they renew. */
export type Renewals = { anchors: number[]; first: number };

const ANCHORS_PER_PAGE = 200;

/** When the certificates of a token expire, in milliseconds since 1970; null if it does not verify. */
const expiryOf = (token: Uint8Array, data: Uint8Array, trustedRoots: readonly string[]): number | null => {
  try {
    const verified = verifyTimestamp({ tokenBytes: token, data });
    if (verified.development || trustedRoots.length === 0) return verified.validUntil.getTime();
    return verifyTimestamp({ tokenBytes: token, data, trustedRoots }).validUntil.getTime();
  } catch {
    return null;
  }
};

/**
 * Finds the anchors that renew the expired time-stamps of a dossier's anchors and checks, as `evaluateStamps` requires: for each
 * expiry, the last anchor that each authority stamped before it, if that one is valid longer; and so on for those of them
 * that have expired too. A check is renewed by its own anchor, too, which may have been stamped with a longer certificate. Null if
 * there is nothing to renew. One token of each set of certificates is verified.
 */
export const findRenewals =
  ({ readAnchors, lastStamped, trustedRoots }: FindRenewalsDeps) =>
  async (
    stamped: readonly number[],
    checks: AsyncIterable<StampedCheck> | Iterable<StampedCheck>,
    now: Date,
  ): Promise<Renewals | null> => {
    const expiries = new Map<string, number>();
    const expiryOfToken = (token: Uint8Array | null, data: Uint8Array): number | null => {
      if (token === null) return null;
      const certificates = hash('sha256', tokenCertificates(token).join(''));
      const expiry = expiries.get(certificates) ?? expiryOf(token, data, trustedRoots);
      if (expiry !== null) expiries.set(certificates, expiry);
      return expiry;
    };
    /** For each expiry that has passed, the anchor behind which its renewals are. */
    const expired = new Map<number, number>();
    const addExpiry = (expiry: number | null, after: number): void => {
      if (expiry !== null && expiry < now.getTime()) expired.set(expiry, Math.min(after, expired.get(expiry) ?? after));
    };
    const add = ({ seq, token, body }: DossierAnchor): void => addExpiry(expiryOfToken(token, body), seq);
    for (let from = 0; from < stamped.length; from += ANCHORS_PER_PAGE)
      for (const anchor of await readAnchors(stamped.slice(from, from + ANCHORS_PER_PAGE))) add(anchor);

    for await (const { bytes, token, anchorSeq } of checks) addExpiry(expiryOfToken(token, bytes), anchorSeq - 1);

    const found = new Set<number>();
    // From the earliest expiry on: what renews it expires later, so every expiry is complete when its turn comes.
    for (let turn = Math.min(...expired.keys()); Number.isFinite(turn); ) {
      const expiry = turn;
      for (const later of await readAnchors(await lastStamped(expired.get(expiry) ?? 0, new Date(expiry)))) {
        if ((expiryOfToken(later.token, later.body) ?? 0) <= expiry) continue;
        found.add(later.seq);
        add(later);
      }
      turn = Math.min(...[...expired.keys()].filter((other) => other > expiry));
    }
    if (found.size === 0) return null;
    return { anchors: [...found].sort((one, other) => one - other), first: Math.min(...expired.values()) };
  };
