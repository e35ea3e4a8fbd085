import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A block of addresses of one family, e.g. 10.0.0.0/8. */
export type Network = { cidr: string; address: ipaddr.IPv4 | ipaddr.IPv6; bits: number };

const parseNetwork = (text: string): Network => {
  const [ip = '', prefix, ...rest] = text.split('/');
  const family = isIP(ip);
  const width = family === 4 ? 32 : 128;
  const bits = prefix === undefined ? width : Number(prefix);
  const wellFormed = family !== 0 && !ip.includes('%') && rest.length === 0 && /^\d{1,3}$/.test(prefix ?? '0');
  if (!wellFormed || bits > width) throw new RangeError(`Not a network in CIDR notation: ${JSON.stringify(text)}`);
  return { cidr: `${ip}/${bits}`, address: ipaddr.parse(ip), bits };
};

/**
 * Parses a comma-separated list of CIDRs (setting WEBHOOK_ALLOWED_NETWORKS); a bare address is a network of one address,
 * an empty text is an empty list. Throws RangeError with the part that is not a network: a partially parsed list would
 * exempt other addresses than intended.
 */
export const parseNetworks = (text: string): Network[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseNetwork);

/** A block that is not public unicast, with its name in a refusal. */
type SpecialNetwork = { name: string; network: Network };

const SPECIAL_BLOCKS: readonly (readonly [name: string, cidrs: string])[] = [
  ['an unspecified address', '0.0.0.0/8,::/128'],
  ['a loopback address', '127.0.0.0/8,::1/128'],
  ['a private address', '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16'],
  ['a carrier-grade NAT address', '100.64.0.0/10'],
  ['a link-local address', '169.254.0.0/16,fe80::/10'],
  // Azure's platform address returns credentials to clients inside Azure; it looks like an ordinary public address.
  ['a metadata address', '168.63.129.16/32'],
  ['a unique-local address', 'fc00::/7'],
  ['a site-local address', 'fec0::/10'],
  ['a protocol assignment', '192.0.0.0/24,192.31.196.0/24,192.52.193.0/24,192.88.99.0/24,192.175.48.0/24'],
  ['a documentation address', '192.0.2.0/24,198.51.100.0/24,203.0.113.0/24,2001:db8::/32,3fff::/20'],
  ['a benchmark address', '198.18.0.0/15,2001:2::/48'],
  ['a multicast address', '224.0.0.0/4,ff00::/8'],
  ['a broadcast address', '255.255.255.255/32'],
  ['a reserved address', '240.0.0.0/4'],
  // These embed an IPv4 address, to which a gateway or the kernel would connect instead.
  ['an IPv4-mapped address', '::ffff:0:0/96'],
  ['an IPv4-translated address', '::ffff:0:0:0/96'],
  ['an IPv4-compatible address', '::/96'],
  ['a NAT64 address', '64:ff9b::/96,64:ff9b:1::/48'],
  ['a 6to4 address', '2002::/16'],
  ['a Teredo address', '2001::/32'],
  ['an IETF protocol assignment', '2001::/23'],
  ['an AS112 address', '2620:4f:8000::/48'],
  ['an address of the former 6bone', '3ffe::/16'],
  ['a discard-only address', '100::/64'],
];

/**
 * The deny list of the address rule; the first match names the refusal. Sources: IANA's IPv4 and IPv6 special-purpose
 * address registries (RFC 6890 and successors), and the metadata addresses of cloud providers.
 */
const specialNetworks = (): SpecialNetwork[] =>
  SPECIAL_BLOCKS.flatMap(([name, cidrs]) => parseNetworks(cidrs).map((network) => ({ name, network })));

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const SPECIAL: readonly SpecialNetwork[] = specialNetworks();
const GLOBAL_UNICAST: readonly Network[] = parseNetworks('2000::/3');

const isIn =
  (address: Address) =>
  ({ address: base, bits }: Network): boolean =>
    address.kind() === base.kind() && address.match(base, bits);

/**
 * Null when a webhook may be sent to this address, otherwise the reason as a clause: `is a loopback address
 * (127.0.0.0/8)`. The `allowed` networks and public unicast addresses are permitted: IPv6 addresses in 2000::/3 and
 * in no special block, IPv4 addresses in no special block. The table of ipaddr.js must agree, so that a block that is
 * missing in one of the two tables is still refused. `ip` is a literal in the resolver's notation; other notations
 * are refused.
 */
export const validateAddress = (ip: string, allowed: readonly Network[]): string | null => {
  if (isIP(ip) === 0 || ip.includes('%')) return 'is not an IP address';
  const address = ipaddr.parse(ip);
  const within = isIn(address);
  if (allowed.some(within)) return null;

  const special = SPECIAL.find(({ network }) => within(network));
  if (special) return `is ${special.name} (${special.network.cidr})`;
  if (address.kind() === 'ipv6' && !GLOBAL_UNICAST.some(within)) return 'is not a global unicast address (2000::/3)';
  const range = address.range();
  return range === 'unicast' ? null : `is a special address (${range})`;
};
