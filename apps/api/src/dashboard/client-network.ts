import { isIP, isIPv6 } from 'node:net';
import type { Logger } from '@vat/runtime';
import type { Request, RequestHandler } from 'express';

/** The eight groups of an IPv6 address, without leading zeros. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const parts = (text: string) => (text === '' ? [] : text.split(':'));
  const [left, right] = [parts(head), parts(tail ?? '')];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...right].map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, ''),
  );
};

/**
 * The networks that contain an address, by which sign-ins are counted. `wide` is what one attacker can rent (a provider's /32
 * of IPv6, a /16 of IPv4), `site` what one customer of a provider has (a /48, or the IPv4 address itself), and `narrow` what
 * one household has (a /64). `family` is all of IPv4 or IPv6.
 */
export type Networks = { family: string; wide: string; site: string; narrow: string };

/** The networks that contain an IP address. An IPv4 address written as IPv6 is treated as IPv4. */
export const networksOf = (address: string): Networks => {
  const [plain = ''] = address.split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped === undefined && isIPv6(plain)) {
    const groups = groupsOf(plain);
    const prefix = (bits: number) => `${groups.slice(0, bits / 16).join(':')}::/${bits}`;
    return { family: 'IPv6', wide: prefix(32), site: prefix(48), narrow: prefix(64) };
  }
  const single = mapped ?? plain;
  return { family: 'IPv4', wide: `${single.split('.').slice(0, 2).join('.')}.0.0/16`, site: single, narrow: single };
};

/**
 * The network by which an address is counted: an IPv4 address itself (also written as IPv6), or the first 64 bits of an IPv6
 * address, since one household has the remaining bits.
 */
export const networkOf = (address: string): string => networksOf(address).narrow;

/** The origin of a sign-in. */
export type Client = {
  /** Networks from the widest to the narrowest. */
  branches: string[];
  /** The networks by which wrong passwords for one e-mail address are counted, see {@link networksOf}. */
  family: string;
  wide: string;
  site: string;
};

/**
 * The client address that a peer which is not in TRUSTED_PROXIES claims to forward for: the last entry of X-Forwarded-For,
 * which a proxy writes itself. `null` when there is none.
 */
const unverifiedClient = (req: Request): string | null => {
  const header = req.get('x-forwarded-for');
  // For a trusted peer, Express fills `ips` from the header.
  if (header === undefined || req.ips.length > 0) return null;
  const last = header.slice(header.lastIndexOf(',') + 1).trim();
  return isIP(last) === 0 ? null : last;
};

/**
 * The origin of a request. Behind a proxy that is not in TRUSTED_PROXIES all clients have the same address. The client that the
 * proxy names then becomes a branch below the proxy's own networks, so that one client cannot keep the others from signing in.
 * A peer that invents client addresses divides only its own share; for one e-mail address it gets the attempts of a wide network.
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

/**
 * Logs an ERROR, once per process, when a peer that is not in TRUSTED_PROXIES sends X-Forwarded-For. If the peer is the
 * operator's proxy, all clients have its address: they share the limits of sign-in, sign-up and /ops, and one client that
 * tries passwords uses them up for all others.
 */
export const reportUntrustedProxy = (log: Pick<Logger, 'error'>): RequestHandler => {
  let isReported = false;
  return (req, _res, next) => {
    if (!isReported && unverifiedClient(req) !== null) {
      isReported = true;
      log.error(
        'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name. If it is your proxy, add it there: until then all clients share one network, and the limits of sign-in and sign-up with it.',
        { peer: req.socket.remoteAddress },
      );
    }
    next();
  };
};
