import { messageOf } from '@vat/runtime';
import { describeRedisAddress, type RedisAddress, readRedisAddress } from '@vat/runtime/redis-address';
import { Cluster, Redis } from 'ioredis';
import { connectSentinel } from './connect-sentinel.js';
import { QUEUES } from './job-catalogue.js';
import { tlsOptions } from './tls-connector.js';

/** A connection to one Redis, to the master of a Sentinel set, or to all masters of a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * `producer`: fails fast, for processes that respond to callers: no offline queue, one attempt, a deadline on every command.
 * `consumer`: waits until Redis is available again, as BullMQ's workers require.
 */
type RedisRole = 'producer' | 'consumer';

/** The deadline of a producer's command. */
const REDIS_COMMAND_TIMEOUT_MS = 1_000;

/**
 * A connection on which nothing arrives for this long after a command is replaced: TCP alone notices after a quarter of an
 * hour that the network forgot it. A consumer's is replaced before the locks of its jobs end, so that these are not taken for
 * those of a dead worker. `waiting`: of commands that wait up to ten seconds for a job, each on a copy of the connection.
 */
const SILENT_MS = { producer: 3_000, consumer: 5_000, waiting: 12_000 } as const;

const CONNECT_TIMEOUT_MS = 2_000;

/** Without it a connection to a frozen or unreachable Redis looks open for a quarter of an hour. */
const KEEP_ALIVE_MS = 5_000;

const retryStrategy = (times: number): number => Math.min(100 * times, 1_000);

/** One connection is replaced at most once in this time: the replies to what was sent together are read after its replacement has begun. */
const REPLACED_EVERY_MS = 1_000;
const replacedAt = new WeakMap<object, number>();

/**
 * A server that became a replica refuses every write, and closes no connection. Behind a name or an address that leads to the master,
 * a new connection leads to the new one. `this`: the options, of which each connection has its own.
 */
function isOfReplica(this: object, { message }: Error): boolean {
  if (!message.includes('READONLY')) return false;
  const at = performance.now();
  if (at - (replacedAt.get(this) ?? Number.NEGATIVE_INFINITY) < REPLACED_EVERY_MS) return false;
  replacedAt.set(this, at);
  return true;
}

const optionsOf = (role: RedisRole) => ({
  maxRetriesPerRequest: role === 'producer' ? 1 : null,
  ...(role === 'producer' ? { commandTimeout: REDIS_COMMAND_TIMEOUT_MS } : {}),
  connectTimeout: CONNECT_TIMEOUT_MS,
  keepAlive: KEEP_ALIVE_MS,
  socketTimeout: SILENT_MS[role],
  reconnectOnError: isOfReplica,
});

/** BullMQ makes a copy for each queue, on which it waits for jobs. */
const letCopiesWait = (redis: Redis): void => {
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => duplicate({ ...options, socketTimeout: SILENT_MS.waiting });
};

/**
 * After a reconnect the client subscribes again by itself, and nothing handles its promise: closing the connection before Redis has
 * answered would end the process as a failure.
 */
const handleResubscribing = (redis: Redis): void => {
  const subscribe = redis.subscribe.bind(redis) as (...channels: unknown[]) => Promise<unknown>;
  redis.subscribe = (...channels: unknown[]) => {
    const subscribed = subscribe(...channels);
    subscribed.catch(() => undefined);
    return subscribed;
  };
};

type TlsOptions = { ca?: string };

/**
 * How often the map of the slots is read without cause. A frozen master closes no connection and redirects no command, so
 * its failover is noticed only in this way.
 */
const SLOTS_REFRESH_MS = { producer: 2_000, consumer: 10_000 } as const;

/** The delay before a command is sent again: after a redirection, a closed connection, or while the cluster is down. */
const RESEND_MS = 100;

/** A producer's command fails within its deadline. A consumer's command waits for as long as a failover takes. */
const MAX_RESENDS = { producer: 6, consumer: Number.MAX_SAFE_INTEGER } as const;

const connectCluster = (
  { nodes, login }: Extract<RedisAddress, { kind: 'cluster' }>,
  role: RedisRole,
  tls: TlsOptions | null,
): Cluster => {
  const cluster = new Cluster(nodes, {
    redisOptions: {
      ...{ ...optionsOf(role), ...login, ...tlsOptions(tls) },
      // A copy of a cluster's connection has the same options.
      ...(role === 'consumer' ? { socketTimeout: SILENT_MS.waiting } : {}),
    },
    enableOfflineQueue: role === 'consumer',
    clusterRetryStrategy: retryStrategy,
    slotsRefreshInterval: SLOTS_REFRESH_MS[role],
    maxRedirections: MAX_RESENDS[role],
    ...{ retryDelayOnMoved: RESEND_MS, retryDelayOnFailover: RESEND_MS, retryDelayOnClusterDown: RESEND_MS },
    // Certificates name hosts; by default the client connects to the address that it looked up.
    ...(tls === null ? {} : { dnsLookup: (host, callback) => callback(null, host) }),
  });
  if (role === 'producer') {
    // Without an offline queue, commands that follow the first to a master fail until its connection is open.
    cluster.on('+node', (node: Redis) => {
      if (node.status === 'wait' && !node.options.readOnly) node.connect().catch(() => undefined);
    });
  }
  return cluster;
};

const open = (url: string, role: RedisRole, onError: (error: Error) => void, ca?: string): RedisConnection => {
  const address = readRedisAddress(url);
  const tls = address.tls ? { ...(ca === undefined ? {} : { ca }) } : null;
  if (address.kind === 'cluster') return connectCluster(address, role, tls);
  const options = {
    ...{ ...optionsOf(role), enableOfflineQueue: role === 'consumer', retryStrategy },
    ...tlsOptions(tls),
  };
  const redis =
    address.kind === 'sentinel' ? connectSentinel(address, options, onError) : new Redis(address.url, options);
  if (role === 'consumer') letCopiesWait(redis);
  handleResubscribing(redis);
  return redis;
};

/**
 * Opens a connection that reconnects without limit. Errors go to `onError`: an unhandled error event would end the process.
 * `ca`: the certificates to trust, in PEM format, for a URL with TLS. Throws an Error that names the expected form when the
 * URL cannot be read.
 */
export const connectRedis = (
  url: string,
  role: RedisRole,
  onError: (error: Error) => void,
  ca?: string,
): RedisConnection => {
  const connection = open(url, role, onError, ca);
  connection.on('error', (error: Error & { lastNodeError?: Error }) => onError(error.lastNodeError ?? error));
  // A node that was being connected to when the cluster's connection was closed may answer with an alert of TLS.
  const isClosed = () => connection.status === 'disconnecting' || connection.status === 'end';
  if (connection.isCluster) connection.on('node error', (error) => isClosed() || onError(error));
  return connection;
};

/** Rejects when the work takes longer than a producer's command may take. */
export const withinCommandTimeout = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  // BullMQ waits without limit for a connection that was never established; the caller of an API must not.
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not respond in time')), REDIS_COMMAND_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
};

/** In a cluster, a key of each queue: a queue is reachable when the master of its slot is. */
const ping = (connection: RedisConnection): Promise<unknown> =>
  connection.isCluster
    ? Promise.all(Object.values(QUEUES).map(({ name }) => connection.exists(name)))
    : connection.ping();

/**
 * Whether Redis responds, within the command deadline of a producer's connection. The connection's status does not suffice:
 * it stays `ready` for a long time when the server is frozen or unreachable.
 */
export const pingRedis = (connection: RedisConnection) => async (): Promise<boolean> => {
  if (connection.status !== 'ready') return false;
  return withinCommandTimeout(ping(connection)).then(
    () => true,
    () => false,
  );
};

const REACH_TIMEOUT_MS = 5_000;

/** Connects once. Throws an Error that names the setting, the hosts and the reason when Redis does not respond. */
export const reachRedis = async (url: string, ca?: string): Promise<void> => {
  let lastError = new Error('no answer in time');
  const connection = connectRedis(
    url,
    'producer',
    (error) => {
      lastError = error;
    },
    ca,
  );
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(lastError), REACH_TIMEOUT_MS);
      connection.once('ready', resolve);
      connection.once('error', () => reject(lastError));
    });
    if (!(await pingRedis(connection)())) throw lastError;
  } catch {
    throw new Error(`REDIS_URL (${describeRedisAddress(url)}) does not answer: ${messageOf(lastError)}`, {
      cause: lastError,
    });
  } finally {
    clearTimeout(timer);
    connection.disconnect();
  }
};

/**
 * Defines a Lua script as a command of the connection. Its arguments are its keys, `keys` in number, and then the others. In
 * a cluster all its keys must have one hash tag. Its text is sent only when Redis does not know it: sending a kilobyte with
 * each call would cost more than running it.
 */
export const defineScript = <Reply>(connection: RedisConnection, name: string, keys: number, lua: string) => {
  connection.defineCommand(name, { numberOfKeys: keys, lua });
  const run = Reflect.get(connection, name) as (...args: (string | number)[]) => Promise<Reply>;
  return run.bind(connection);
};
