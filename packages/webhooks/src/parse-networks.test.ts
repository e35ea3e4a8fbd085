import { parseNetworks } from './validate-address.js';

describe('reading networks', () => {
  test('reads CIDRs of both families and bare addresses, with blanks between', () => {
    expect(parseNetworks(' 127.0.0.0/8, ::1/128 ,10.1.2.3,fd00::1').map(({ cidr }) => cidr)).toEqual([
      '127.0.0.0/8',
      '::1/128',
      '10.1.2.3/32',
      'fd00::1/128',
    ]);
  });

  test.each(['', '  ', ','])('reads %j as an empty list', (text) => {
    expect(parseNetworks(text)).toEqual([]);
  });

  test.each([
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '0x7f.0.0.1/8',
    'fe80::1%eth0/64',
    '127.0.0.0/8,oops',
    '127.0.0.0/8 ::1/128',
  ])('refuses %j', (text) => {
    expect(() => parseNetworks(text)).toThrow(RangeError);
  });
});
