import type { RedisAddress } from '@vat/runtime/redis-address';
import { Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { tlsOptions } from './tls-connector.js';

type SentinelAddress = Extract<RedisAddress, { kind: 'sentinel' }>;
type Stream = Awaited<ReturnType<SentinelConnector['connect']>>;
type Connector = NonNullable<RedisOptions['Connector']>;

/** What all connections of this service set. */
type SharedOptions = Pick<
  RedisOptions,
  'commandTimeout' | 'connectTimeout' | 'enableOfflineQueue' | 'keepAlive' | 'maxRetriesPerRequest' | 'tls'
> & { retryStrategy: (times: number) => number };

const SENTINEL_TIMEOUT_MS = 1_000;

const onFailover = (
  { nodes, master, sentinelLogin }: SentinelAddress,
  { tls, retryStrategy, connectTimeout, keepAlive }: SharedOptions,
  act: () => void,
): { close: () => void } => {
  const options = { connectTimeout, keepAlive, maxRetriesPerRequest: null, ...tlsOptions(tls) };
  const sentinels = nodes.map((node) => new Redis({ ...node, ...sentinelLogin, ...options, retryStrategy }));
  for (const sentinel of sentinels) {
    // The connections to the master report when no Sentinel responds.
    sentinel.on('error', () => undefined);
    sentinel.on('message', (_channel: string, message: string) => {
      if (message.startsWith(`${master} `)) act();
    });
    sentinel.subscribe('+switch-master').catch(() => undefined);
  }
  return {
    close: () => {
      for (const sentinel of sentinels) sentinel.disconnect();
    },
  };
};

/**
 * Connects to the master that the Sentinels name, and again to the new one after a failover. A frozen or unreachable master
 * closes no connection, so the Sentinels' announcement of a failover closes them: those of this client and of its duplicates,
 * of which BullMQ makes one a queue. ioredis can do this for one client (`failoverDetector`), at the cost of as many
 * connections to each Sentinel, and it prints the errors of these to the console.
 */
export const connectSentinel = (
  address: SentinelAddress,
  options: SharedOptions,
  onError: (error: Error) => void,
): Redis => {
  const { nodes, master, db, login, sentinelLogin } = address;
  const open = new Set<Stream>();
  class FollowingConnector extends SentinelConnector {
    override async connect(emit: Parameters<SentinelConnector['connect']>[0]): Promise<Stream> {
      // Without a listener ioredis prints these errors, and a duplicate has none.
      const stream = await super.connect((type, error) =>
        type === 'sentinelError' ? onError(error) : emit(type, error),
      );
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      return stream;
    }
  }
  const redis = new Redis({
    ...{ ...options, ...login, sentinels: nodes, name: master, role: 'master', db },
    ...(sentinelLogin.username ? { sentinelUsername: sentinelLogin.username } : {}),
    ...(sentinelLogin.password ? { sentinelPassword: sentinelLogin.password } : {}),
    ...(options.tls ? { sentinelTLS: options.tls, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
    sentinelRetryStrategy: options.retryStrategy,
    Connector: FollowingConnector as unknown as Connector,
  });
  const watch = onFailover(address, options, () => {
    for (const stream of open) stream.destroy();
  });
  redis.once('end', watch.close);
  return redis;
};
