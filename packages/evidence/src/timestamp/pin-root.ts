import { X509Certificate } from 'node:crypto';
import type { RequestTimestamp } from './request-timestamp.js';
import { TimestampRefused } from './timestamp-refused.js';
import { verifyTimestamp } from './verify-timestamp.js';

/**
 * Stores the topmost certificate (PEM) of an authority unless one is stored already, and resolves to the stored one. Of several
 * processes the first one decides.
 */
export type RootPin = (certificate: string) => Promise<string>;

/** An authority whose certificates lead to another root than the pinned one. SHA-256 of the DER form, in lower-case hex. */
export type OtherRoot = { pinned: string; shown: string };

type PinRootDeps = {
  /** Verifies that the authority's own chain holds. */
  request: RequestTimestamp;
  pin: RootPin;
  onOtherRoot: (roots: OtherRoot) => void;
};

/**
 * An authority's address as pins name it: without user, password and query, which may be secret. Throws for an address
 * without TLS, where whoever is on the way could answer first and be pinned.
 */
export const pinnedAddress = (url: string): string => {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'https:') throw new Error('certificates are required, because TSA_URL is not an https address');
  return origin + pathname;
};

/** The SHA-256 of a certificate's DER form, in lower-case hex: the fingerprint that authorities publish. */
export const fingerprintOf = (pem: string): string =>
  new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();

/**
 * Trusts the root that an authority's first answer leads to, and from then on no other: without roots from the operator,
 * anybody who could later redirect the address could stamp in the authority's name. A token that leads elsewhere is refused
 * (`other_root`). The pinned certificate is the topmost one that the answer carries, so it may be an intermediate one.
 */
export const pinRoot =
  ({ request, pin, onOtherRoot }: PinRootDeps): RequestTimestamp =>
  async (digest, signal) => {
    const stamp = await request(digest, signal);
    const shown = stamp.certificates.at(-1) ?? '';
    const pinned = await pin(shown);
    if (pinned === shown) return stamp;
    try {
      return verifyTimestamp({ tokenBytes: stamp.tokenBytes, digest, trustedRoots: [pinned] });
    } catch (error) {
      if (!(error instanceof TimestampRefused && error.refusal === 'wrong_chain')) throw error;
      const roots = { pinned: fingerprintOf(pinned), shown: fingerprintOf(shown) };
      onOtherRoot(roots);
      throw new TimestampRefused(
        'other_root',
        `the authority's certificates lead to ${roots.shown}, and the pinned root is ${roots.pinned}`,
      );
    }
  };
