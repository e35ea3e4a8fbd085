import { isIPv6 } from 'node:net';

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
