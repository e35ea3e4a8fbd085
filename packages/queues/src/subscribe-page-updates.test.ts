import { openTcpProxy, until } from '@vat/testkit';
import { connectRedis } from './connect-redis.js';
import { publishPageUpdates, subscribePageUpdates } from './page-update.js';
import { testRedis } from './test-redis.fixture.js';

const redis = testRedis();

test('while Redis is away, callers that come and go add no further commands to those that wait for it', async () => {
  const proxy = await openTcpProxy({ to: redis.url });
  const subscriber = connectRedis(proxy.through(redis.url), 'consumer', () => undefined);
  const received: string[] = [];
  const pages = subscribePageUpdates(subscriber, redis.prefix, (accountId) => received.push(accountId));
  const { publish } = publishPageUpdates(redis.connection, redis.prefix);
  try {
    await pages.follow('stays');
    await pages.follow('goes');
    await proxy.refuse();
    proxy.cut();
    await until('the end of the connection', () => !pages.isListening());
    for (let n = 0; n < 1_000; n += 1) {
      pages.unfollow('goes');
      void pages.follow('goes');
    }
    pages.unfollow('goes');
    const { bytes } = proxy.counts();
    const following = pages.follow('comes');
    await proxy.accept();
    await following;
    // Commands are answered in their order.
    await pages.follow('last');
    for (const accountId of ['goes', 'stays', 'comes', 'last']) publish(accountId, 'checks');
    await until('the updates', () => received.length >= 3);
    expect(received).toEqual(['stays', 'comes', 'last']);
    // Two thousand commands are 150 kB.
    expect(proxy.counts().bytes - bytes).toBeLessThan(20_000);
  } finally {
    subscriber.disconnect();
    await proxy.close();
  }
});
