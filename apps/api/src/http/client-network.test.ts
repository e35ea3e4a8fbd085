import { networkOf, networksOf } from './client-network.js';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['2001:db8:0:0:ffff::', '2001:db8:0::/48'],
  ['::1', '0:0:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
  ['', ''],
])('%j is counted as %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['192.0.2.7', { family: 'IPv4', wide: '192.0.0.0/16', site: '192.0.2.7', narrow: '192.0.2.7' }],
  ['::ffff:192.0.2.7', { family: 'IPv4', wide: '192.0.0.0/16', site: '192.0.2.7', narrow: '192.0.2.7' }],
  ['2001:db8:1:2::3', { family: 'IPv6', wide: '2001:db8::/32', site: '2001:db8:1::/48', narrow: '2001:db8:1:2::/64' }],
])('%j lies in %j', (address, networks) => {
  expect(networksOf(address)).toEqual(networks);
});
