import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { chooseRedis, findFreePort, type Launched, launchServer, redisEnvironment, stopProcess } from '@vat/embedded';
import { Redis, type RedisOptions } from 'ioredis';
import { PROJECT_ROOT } from './run-program.js';

/** One process of a Redis set. It stores nothing on disk but its configuration, so it is empty after a restart. */
export type RedisNode = {
  port: number;
  /** A connection for commands of the test. */
  redis: Redis;
  /** Kills it, like a crash. */
  kill: () => Promise<void>;
  /** Suspends it: connections stay open and get no answer. */
  freeze: () => void;
  thaw: () => void;
  restart: () => Promise<void>;
  stop: () => Promise<void>;
};

type Login = Pick<RedisOptions, 'password' | 'tls'>;

type NodeOptions = {
  folder: string;
  /** Lines of its configuration, ports apart. */
  config: readonly string[];
  /** A node of a cluster has a second port, for the other nodes. */
  cluster?: boolean;
  /** `--sentinel`, for example. */
  flags?: readonly string[];
  connect: Login;
  /** With TLS there is no other port. */
  tls?: boolean;
};

/** The server that `npm start` and the other tests use. */
const findBinary = () => {
  const binDir = path.join(PROJECT_ROOT, '.data', 'redis-bin');
  mkdirSync(binDir, { recursive: true });
  return chooseRedis({ binDir, env: { PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin' }, log: () => undefined });
};

const respondsTo = async (options: Login & { host: string; port: number }): Promise<boolean> => {
  const redis = new Redis({ ...options, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
};

/** Prepares a Redis process on free ports of 127.0.0.1. `launch` starts it and waits until it responds; it can be repeated. */
const prepareNode = async ({ folder, config, cluster = false, flags = [], connect, tls = false }: NodeOptions) => {
  const binary = await findBinary();
  const port = await findFreePort();
  const dir = path.join(folder, String(port));
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, 'redis.conf');
  const ports = [
    ...(tls ? ['port 0', `tls-port ${port}`] : [`port ${port}`]),
    ...(cluster ? [`cluster-port ${await findFreePort()}`] : []),
  ];
  const lines = [...ports, 'bind 127.0.0.1', `dir "${dir}"`, 'loglevel notice', ...config];
  const options = { host: '127.0.0.1', port, ...connect };
  const launch = () => {
    // A cluster node and a Sentinel write to it.
    writeFileSync(file, `${lines.join('\n')}\n`);
    return launchServer({
      command: [binary.file, file, ...flags],
      options: { cwd: dir, env: redisEnvironment(binary) },
      logFile: path.join(dir, 'redis.log'),
      isReady: () => respondsTo(options),
      stop: { signal: 'SIGTERM', timeoutMs: 2_000 },
    });
  };
  return { port, options, launch };
};

/** Another test may take a port that was free a moment ago. */
const PORT_TRIES = 3;

/** Starts a Redis process on a free port of 127.0.0.1 and waits until it responds. */
export const startRedisNode = async (node: NodeOptions): Promise<RedisNode> => {
  const start = async (
    tries: number,
  ): Promise<Awaited<ReturnType<typeof prepareNode>> & Exclude<Launched, { failure: string }>> => {
    const prepared = await prepareNode(node);
    const launched = await prepared.launch();
    if (!('failure' in launched)) return { ...prepared, ...launched };
    if (tries < PORT_TRIES && launched.failure.includes('Address already in use')) return start(tries + 1);
    throw new Error(`Redis did not start on port ${prepared.port}: ${launched.failure}`);
  };
  const { port, options, launch, ...started } = await start(1);
  let { pid, exited } = started;
  const redis = new Redis({ ...options, maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  return {
    port,
    redis,
    kill: async () => {
      process.kill(pid, 'SIGKILL');
      await exited;
    },
    freeze: () => void process.kill(pid, 'SIGSTOP'),
    thaw: () => void process.kill(pid, 'SIGCONT'),
    restart: async () => {
      const launched = await launch();
      if ('failure' in launched) throw new Error(`Redis did not start again on port ${port}: ${launched.failure}`);
      ({ pid, exited } = launched);
    },
    stop: async () => {
      // A client between two attempts to connect ends at once and reports nothing.
      const ended = redis.status === 'ready' ? once(redis, 'end') : null;
      redis.disconnect();
      await stopProcess({ pid, exited, steps: [{ signal: 'SIGTERM', timeoutMs: 1_000 }] });
      await ended;
    },
  };
};
