import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Network, parseNetworks } from './parse-networks.js';
import { type SpecialNetwork, specialNetworks } from './special-networks.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

// Constants: what IANA assigned does not change while a process runs.
const SPECIAL: readonly SpecialNetwork[] = specialNetworks();
const GLOBAL_UNICAST: readonly Network[] = parseNetworks('2000::/3');

const liesIn =
  (address: Address) =>
  ({ address: base, bits }: Network): boolean =>
    address.kind() === base.kind() && address.match(base, bits);

/**
 * Null when a webhook may be sent to this address, else why not, as a clause: `is a loopback address (127.0.0.0/8)`.
 * Allowed are `allowed` networks and public unicast: for IPv6 what lies in 2000::/3 and in no special block, for IPv4
 * what lies in none. The library's own table must agree, so that a block missing in one of the two is still refused.
 * `ip` is a literal as the system's resolver writes it; other notations are refused, not interpreted.
 * Source: contract part 1 §4 rule 2, part 2 §8.
 */
export const judgeAddress = (ip: string, allowed: readonly Network[]): string | null => {
  if (isIP(ip) === 0 || ip.includes('%')) return 'is not an IP address';
  const address = ipaddr.parse(ip);
  const within = liesIn(address);
  if (allowed.some(within)) return null;

  const special = SPECIAL.find(({ network }) => within(network));
  if (special) return `is ${special.name} (${special.network.cidr})`;
  if (address.kind() === 'ipv6' && !GLOBAL_UNICAST.some(within)) return 'is not a global unicast address (2000::/3)';
  const range = address.range();
  return range === 'unicast' ? null : `is a special address (${range})`;
};
