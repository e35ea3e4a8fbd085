import { describeRedisAddress, readRedisAddress } from './redis-address.js';
import { readSettings, settingProblems } from './settings.js';

const nodes = (...ports: number[]) => ports.map((port, n) => ({ host: `h${n + 1}`, port }));

test.each([
  ['redis://:p@h:1/2', { kind: 'single', url: 'redis://:p@h:1/2', tls: false }],
  ['rediss://u:p@h', { kind: 'single', url: 'rediss://u:p@h', tls: true }],
  ['redis://[::1]:6379/', { kind: 'single', url: 'redis://[::1]:6379/', tls: false }],
  [
    'redis-sentinel://h1:1,h2/vat/3',
    { kind: 'sentinel', nodes: nodes(1, 26_379), master: 'vat', db: 3, tls: false, login: {}, sentinelLogin: {} },
  ],
  [
    'rediss-sentinel://u:p%2F%40@h1/a%20b?sentinel_user=s&sentinel_password=t%25',
    {
      ...{ kind: 'sentinel', nodes: nodes(26_379), master: 'a b', db: 0, tls: true },
      ...{ login: { username: 'u', password: 'p/@' }, sentinelLogin: { username: 's', password: 't%' } },
    },
  ],
  ['redis-cluster://h1,h2:2', { kind: 'cluster', nodes: nodes(6_379, 2), tls: false, login: {} }],
  [
    'REDISS-CLUSTER://:p@ss:w@[2001:db8::1]:7,h2/0',
    {
      ...{ kind: 'cluster', tls: true, login: { password: 'p@ss:w' } },
      nodes: [
        { host: '2001:db8::1', port: 7 },
        { host: 'h2', port: 6_379 },
      ],
    },
  ],
])('%s is read', (url, address) => {
  expect(readRedisAddress(url)).toEqual(address);
  expect(readSettings({ REDIS_URL: url }, 'worker', ['REDIS_URL'])).toEqual({ REDIS_URL: url });
});

const SINGLE = 'write redis://user:password@host:6379/0, or rediss:// for TLS';
const SENTINEL = 'write redis-sentinel://user:password@host1:26379,host2:26379/MASTER/DB';
const CLUSTER = 'write redis-cluster://user:password@host1:6379,host2:6379';

test.each([
  ['localhost:6379', `its form is not known; ${SINGLE}, `],
  ['http://secret@h', `its form is not known; ${SINGLE}, `],
  ['redis-cluster:secret', `its form is not known; ${SINGLE}, `],
  ['redis://:secret@h1:1,h2:2', `it cannot be read as one host; ${SINGLE}`],
  ['redis://:secret%x@h1:1', `a % that is not part of an encoded character must be written as %25; ${SINGLE}`],
  ['redis:///secret', `it has no host; ${SINGLE}`],
  ['redis://h/secret', `its database is not a number; ${SINGLE}`],
  ['redis-sentinel://:secret@h1:1,h2:2', `it does not name a master; ${SENTINEL}`],
  ['redis-sentinel://:secret@h1/vat/0/1', `it does not name a master; ${SENTINEL}`],
  ['redis-sentinel://:secret@h1/vat/x', `its database is not a number; ${SENTINEL}`],
  ['redis-sentinel://:secret@h1,,h2/vat', `its hosts cannot be read; ${SENTINEL}`],
  [
    'redis-sentinel://:secret%@h1/vat',
    `a % that is not part of an encoded character must be written as %25; ${SENTINEL}`,
  ],
  ['redis-sentinel://:secret@h1/vat?secret=1', 'its only parameters are sentinel_user and sentinel_password; write '],
  ['redis-cluster://:secret@h1:70000', `a port is not between 1 and 65535; ${CLUSTER}`],
  ['redis-cluster://:secret@h1/1', `a cluster has only database 0; ${CLUSTER}`],
  ['redis-cluster://', `its hosts cannot be read; ${CLUSTER}`],
])('%s is refused with the form that is expected, without its login', (url, problem) => {
  for (const program of ['api', 'worker', 'admin', 'stack'] as const) {
    const [line = ''] = settingProblems({ REDIS_URL: url }, program);
    expect(line.startsWith(`REDIS_URL: ${problem}`)).toBe(true);
    expect(line).not.toContain('secret@');
    expect(line.replaceAll('sentinel_password', '')).not.toContain('secret');
  }
});

test('an address is described by its hosts, without its login', () => {
  expect(describeRedisAddress('redis://u:p@h:1/0')).toBe('h:1/0');
  expect(describeRedisAddress('redis-sentinel://u:p@h1:1,h2:2/m/0?sentinel_password=x')).toBe('h1:1,h2:2/m/0');
  expect(describeRedisAddress('redis-cluster://h1,h2')).toBe('h1,h2');
});
