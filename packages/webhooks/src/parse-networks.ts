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
 * Reads a comma-separated list of CIDRs; a bare address stands for itself alone, an empty text for none.
 * Throws RangeError naming the part that is no network: half-read, the list would exempt other addresses than meant.
 * Source: setting WEBHOOK_ALLOWED_NETWORKS, contract part 2 §2.
 */
export const parseNetworks = (text: string): Network[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseNetwork);
