import { isIP } from 'node:net';
import type { Request } from 'express';
import { networksOf } from './network-of.js';

/** Where a sign-in comes from. */
export type Client = {
  /** Networks from the widest to the narrowest. */
  branches: string[];
  /** The networks by which wrong tries for one address are counted, see {@link networksOf}. */
  family: string;
  wide: string;
  site: string;
};

/**
 * The client that a peer says it forwards for, when TRUSTED_PROXIES does not name the peer: the last entry of
 * X-Forwarded-For, which a proxy writes itself. `null` when there is none.
 */
export const unverifiedClient = (req: Request): string | null => {
  const header = req.get('x-forwarded-for');
  // Express resolves a trusted peer's header into other addresses than the peer's own.
  if (header === undefined || req.ips.length > 0) return null;
  const last = header.slice(header.lastIndexOf(',') + 1).trim();
  return isIP(last) === 0 ? null : last;
};

/**
 * Where a request comes from. Behind a proxy that TRUSTED_PROXIES does not name, all clients have one address; so that one of
 * them cannot keep the others from signing in, the client that the proxy names is told apart below the proxy's own
 * networks. A peer that makes such names up divides its own share, and has the tries of a wide network for one address.
 */
export const clientOf = (req: Request): Client => {
  const { family, wide, site, narrow } = networksOf(req.ip ?? '');
  const own = [family, wide, site, narrow];
  const forwarded = unverifiedClient(req);
  if (forwarded === null) return { branches: own, family, wide, site };
  const behind = networksOf(forwarded);
  return {
    branches: [...own, behind.family, behind.wide, behind.site, behind.narrow],
    family,
    wide: site,
    site: `${behind.site} behind ${site}`,
  };
};
