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
 * The networks around an address, by which sign-ins are counted. `family` and `wide` hold what one attacker can rent (a
 * provider's /32 of IPv6, a /16 of IPv4), `site` what one customer of a provider has (a /48, or the IPv4 address itself),
 * `narrow` what one household has (a /64).
 */
export type Networks = { family: string; wide: string; site: string; narrow: string };

/** The networks around an IP address; an IPv4 address is the same however it is written. */
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
 * The network an address is counted by: an IPv4 address by itself (also where it is written as IPv6), an IPv6 address by
 * its first 64 bits, of which one household has all the others.
 */
export const networkOf = (address: string): string => networksOf(address).narrow;

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
const unverifiedClient = (req: Request): string | null => {
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

/**
 * Logs an ERROR, once in a process, when a peer sends X-Forwarded-For that TRUSTED_PROXIES does not name. If the peer is the
 * operator's proxy, all clients have its address: they share the limits of sign-in, sign-up and /ops, and whoever tries
 * passwords uses them up for everybody.
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
