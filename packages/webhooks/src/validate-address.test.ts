import { parseNetworks, validateAddress } from './validate-address.js';

const REFUSED: readonly (readonly [ip: string, reason: string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'carrier-grade NAT'],
  ['100.100.100.200', 'carrier-grade NAT'],
  ['100.127.255.255', 'carrier-grade NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.0.0', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['169.254.170.2', 'link-local'],
  ['169.254.255.255', 'link-local'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.1', 'protocol assignment'],
  ['192.0.0.192', 'protocol assignment'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'protocol assignment'],
  ['192.52.193.1', 'protocol assignment'],
  ['192.88.99.1', 'protocol assignment'],
  ['192.168.0.0', 'private'],
  ['192.168.255.255', 'private'],
  ['192.175.48.1', 'protocol assignment'],
  ['198.18.0.0', 'benchmark'],
  ['198.19.255.255', 'benchmark'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.254', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::127.0.0.1', 'IPv4-'], // ipaddr.js reads the dotted spelling of a compatible address as a mapped one
  ['::7f00:1', 'IPv4-compatible'],
  ['::8.8.8.8', 'IPv4-'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:7f00:1', 'IPv4-mapped'],
  ['::FFFF:7F00:0001', 'IPv4-mapped'],
  ['0:0:0:0:0:ffff:a9fe:a9fe', 'IPv4-mapped'],
  ['::ffff:8.8.8.8', 'IPv4-mapped'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated'],
  ['64:ff9b::127.0.0.1', 'NAT64'],
  ['64:ff9b::7f00:1', 'NAT64'],
  ['64:ff9b::808:808', 'NAT64'],
  ['64:ff9b:1::1', 'NAT64'],
  ['64:ff9b:1:ffff::10.0.0.1', 'NAT64'],
  ['100::1', 'discard-only'],
  ['100:0:0:1::1', 'global unicast'],
  ['2001::1', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
  ['2001:1::1', 'IETF'],
  ['2001:2::1', 'benchmark'],
  ['2001:4:112::1', 'IETF'],
  ['2001:10::1', 'IETF'],
  ['2001:20::1', 'IETF'],
  ['2001:30::1', 'IETF'],
  ['2001:1ff:ffff::1', 'IETF'],
  ['2001:db8::1', 'documentation'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2002::1', '6to4'],
  ['2002:7f00:1::1', '6to4'],
  ['2002:a9fe:a9fe::', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['2620:4f:8000::1', 'AS112'],
  ['3ffe::1', '6bone'],
  ['3fff::1', 'documentation'],
  ['3fff:fff:ffff::1', 'documentation'],
  ['4000::1', 'global unicast'],
  ['5f00::1', 'global unicast'],
  ['1fff:ffff::1', 'global unicast'],
  ['fc00::1', 'unique-local'],
  ['fd00:ec2::254', 'unique-local'],
  ['fd20:ce::254', 'unique-local'],
  ['fdff:ffff::1', 'unique-local'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local'],
  ['fe80::5efe:7f00:1', 'link-local'],
  ['fec0::1', 'site-local'],
  ['feff::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['ff0e::1', 'multicast'],
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.0.3.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '3ffd:ffff::1',
];

/**
 * Notations that some programs read as an address. They are refused here, because programs disagree on their meaning.
 */
const NO_ADDRESS = [
  '',
  ' ',
  'localhost',
  '127.1',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '0x7f000001',
  '2130706433',
  '127.0.0.1.',
  ' 127.0.0.1',
  '127.0.0.1/8',
  '１２７.0.0.1',
  '[::1]',
  'fe80::1%eth0',
  '2606:4700::1%1',
  '::ffff:127.1',
  '1.2.3.4.5',
  ':::',
];

describe('the address rule', () => {
  test.each(REFUSED)('refuses %s (%s)', (ip, reason) => {
    expect(validateAddress(ip, [])).toContain(reason);
  });

  test.each(PUBLIC)('permits the public address %s', (ip) => {
    expect(validateAddress(ip, [])).toBeNull();
  });

  test.each(NO_ADDRESS)('does not interpret %j', (ip) => {
    expect(validateAddress(ip, parseNetworks('0.0.0.0/0,::/0'))).toBe('is not an IP address');
  });

  test('permits an allowed network, and no address outside it', () => {
    const allowed = parseNetworks('127.0.0.0/8,fd00:1::/32');
    expect(validateAddress('127.4.5.6', allowed)).toBeNull();
    expect(validateAddress('fd00:1:2::3', allowed)).toBeNull();
    expect(validateAddress('10.0.0.1', allowed)).toContain('private');
    expect(validateAddress('::1', allowed)).toContain('loopback');
    expect(validateAddress('::ffff:127.0.0.1', allowed)).toContain('IPv4-mapped');
    expect(validateAddress('fd00:2::3', allowed)).toContain('unique-local');
    expect(validateAddress('8.8.8.8', allowed)).toBeNull();
  });
});
