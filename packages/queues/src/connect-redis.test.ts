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

test('a connection to a server that became a replica is replaced once, however many commands it refuses', async () => {
  const namespace = await openRedisNamespace();
  const connection = connectRedis(namespace.url, 'producer', () => undefined);
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  try {
    await until('the connection', () => connection.status === 'ready');
    let ends = 0;
    connection.on('close', () => {
      ends += 1;
    });
    const refuse = () => connection.eval("return redis.error_reply('READONLY refused')", 0);
    const results = await Promise.allSettled(Array.from({ length: 20 }, refuse));
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'));
    await until('the new connection', () => ends === 1 && connection.status === 'ready');
    expect(await connection.ping()).toBe('PONG');
    // Node warns of more than ten listeners, which each further end would add one of.
    await new Promise((resolve) => setImmediate(resolve));
    expect([ends, warnings]).toEqual([1, []]);
  } finally {
    process.off('warning', note);
    connection.disconnect();
    await namespace.close();
  }
});
