import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { Client } from '@vat/domain';
import type { Logger } from '@vat/runtime';
import type { Application, RequestHandler } from 'express';

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
type Networks = { family: string; wide: string; site: string; narrow: string };

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
 * The network by which calls without a session are counted: an IPv4 address itself (also written as IPv6), or the first 48 bits of
 * an IPv6 address, since one customer of a provider can use all 65 536 networks below them.
 */
export const networkOf = (address: string): string => networksOf(address).site;

/** Whether TRUSTED_PROXIES names an address. `hop`: its position before the client, from 0. */
export type TrustsProxy = (address: string, hop: number) => boolean;

/** The rule that an app has compiled from its setting `trust proxy`. */
export const trustsProxyOf = (app: Application): TrustsProxy => app.get('trust proxy fn');

/** The parts of a request that name its origin. */
type Origin = Pick<IncomingMessage, 'headers' | 'socket'>;

/** The addresses of a request, from the peer to the client that the first proxy names. */
const addressesOf = ({ headers, socket }: Origin): [peer: string, ...forwarded: string[]] => {
  const forwarded = headers['x-forwarded-for'];
  const peer = socket.remoteAddress ?? '';
  if (typeof forwarded !== 'string') return [peer];
  const named = forwarded.split(',').map((address) => address.trim());
  return [peer, ...named.filter((address) => address !== '').reverse()];
};

/**
 * The origin of a request: the first address that is not in TRUSTED_PROXIES, as in Express's `req.ip`. Behind a proxy that is
 * not named there all clients have the same address. The client that the proxy names (the last entry of X-Forwarded-For, which
 * a proxy writes itself) then becomes a branch below the proxy's own networks, so that one client cannot keep the others from
 * signing in. A peer that invents client addresses divides only its own share; for one e-mail address it gets the attempts of a
 * wide network.
 */
export const clientOf = (req: Origin, trustsProxy: TrustsProxy): Client => {
  const addresses = addressesOf(req);
  const [peer, forwarded = ''] = addresses;
  const address = addresses.find((each, hop) => !trustsProxy(each, hop)) ?? addresses.at(-1) ?? peer;
  const { family, wide, site, narrow } = networksOf(address);
  const own = [family, wide, site, narrow];
  if (isIP(forwarded) === 0 || trustsProxy(peer, 0)) return { branches: own, family, wide, site };
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
export const reportUntrustedProxy = (log: Pick<Logger, 'error'>, trustsProxy: TrustsProxy): RequestHandler => {
  let isReported = false;
  return (req, _res, next) => {
    const [peer, forwarded = ''] = isReported ? [''] : addressesOf(req);
    if (isIP(forwarded) !== 0 && !trustsProxy(peer, 0)) {
      isReported = true;
      log.error(
        'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name. If it is your proxy, add it there: until then all clients share one network, and the limits of sign-in and sign-up with it.',
        { peer },
      );
    }
    next();
  };
};
