import { openRedisNamespace, openTcpProxy, until } from '@vat/testkit';
import { connectRedis } from './connect-redis.js';

test('a connection that is closed while it subscribes again leaves no rejection unhandled', async () => {
  const namespace = await openRedisNamespace();
  const proxy = await openTcpProxy({ to: namespace.url });
  const connection = connectRedis(proxy.through(namespace.url), 'consumer', () => undefined);
  const rejected: unknown[] = [];
  const note = (reason: unknown) => void rejected.push(reason);
  try {
    await connection.subscribe(`${namespace.prefix}:channel`);
    process.on('unhandledRejection', note);
    // After the reconnect Redis is ready, and does not answer the subscription before the connection is closed.
    connection.once('ready', () => {
      proxy.freeze({ existing: true });
      connection.disconnect();
    });
    connection.disconnect(true);
    await until('the connection to end', () => connection.status === 'end');
    // An unhandled rejection is reported once the microtasks have run.
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejected).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    connection.disconnect();
    await proxy.close();
    await namespace.close();
  }
});
