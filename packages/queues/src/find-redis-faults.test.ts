import { openRedisNamespace, until } from '@vat/testkit';
import { connectRedis } from './connect-redis.js';
import { faultsOf, findRedisFaults } from './find-redis-faults.js';

test.each([
  ['# Server\r\nredis_version:7.2.4\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n', []],
  ['redis_version:6.2.0\r\nvalkey_version:8.1.0\r\nmaxmemory_policy:noeviction\r\n', []],
  [
    'redis_version:7.2.4\r\nmaxmemory_policy:allkeys-lru\r\n',
    ['Redis may remove jobs when its memory is full: set maxmemory-policy to noeviction. It is allkeys-lru.'],
  ],
  ['redis_version:6.0.16\r\n', ['Redis 6.0.16 is too old: 6.2 or newer is needed.']],
  ['', []],
])('the faults of %j are %j', (info, faults) => {
  expect(faultsOf(info)).toEqual(faults);
});

test('the server of the tests has no faults', async () => {
  const namespace = await openRedisNamespace();
  const connection = connectRedis(namespace.url, 'producer', () => undefined);
  await until('the connection', () => connection.status === 'ready');
  expect(await connection.info()).toContain('maxmemory_policy:noeviction');
  expect(await findRedisFaults(connection)).toEqual([]);
  connection.disconnect();
  await until('its end', () => connection.status === 'end');
  await namespace.close();
});
