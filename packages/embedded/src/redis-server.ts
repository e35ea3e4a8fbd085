import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createFolder } from './create-folder.js';
import {
  type Access,
  adoptServer,
  choosePort,
  type EmbeddedServer,
  recallAccess,
  rememberAccess,
} from './embedded-server.js';
import { chooseRedis, type RedisBinary, redisEnvironment } from './redis-package.js';
import {
  findFreePort,
  inspectProcess,
  type Launched,
  launchServer,
  stopProcess,
  waitForExit,
} from './server-process.js';

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';
const PROBE_TIMEOUT_MS = 1_000;

/** Options of {@link startRedis}. */
type StartRedis = {
  /** Contains the append-only file (`redis/`), the log, the access data and by default `redis-bin/`; created when missing. */
  dataDir: string;
  /** A required port. By default the last port is reused if it is free; otherwise a new one is chosen. */
  port?: number | undefined;
  /** The folder of a fetched redis-server. Default `dataDir/redis-bin`. */
  binDir?: string | undefined;
  /** False (tests only): nothing is written to disk. */
  durable?: boolean | undefined;
  /** PATH and proxy settings. Default: the usual folders, no proxy. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Called with one line about anything unusual. */
  log?: ((line: string) => void) | undefined;
  /** Cancels fetching redis-server. */
  signal?: AbortSignal | undefined;
};

/**
 * Starts Redis on 127.0.0.1 (append-only file, noeviction, a password that is generated once), or takes over the server that
 * a killed parent left running on the same `dataDir`. Throws a readable Error without a binary, with a taken `port`, or when
 * the directory cannot be used.
 */
export const startRedis = async ({
  dataDir: folder,
  port,
  binDir,
  durable = true,
  env = { PATH: DEFAULT_PATH },
  log = () => undefined,
  signal,
}: StartRedis): Promise<EmbeddedServer> => {
  createFolder(path.join(path.resolve(folder), 'redis'), 0o700);
  // Redis reports its directory without symbolic links.
  const dataDir = realpathSync(folder);
  const dir = path.join(dataDir, 'redis');
  const accessFile = path.join(dataDir, 'redis.json');
  const remembered = recallAccess(accessFile);

  const asServer = (access: Access, pid: number, exited: Promise<string>, reused: boolean): EmbeddedServer => {
    rememberAccess(accessFile, access);
    return {
      url: `redis://:${access.password}@127.0.0.1:${access.port}/0`,
      ...{ port: access.port, pid, reused, created: remembered.port === 0, exited },
      stop: ({ timeoutMs = 5_000, force } = {}) =>
        stopProcess({ pid, exited, force, steps: [{ signal: 'SIGTERM', timeoutMs }] }),
    };
  };

  const left = await adoptRedis(remembered, dir, path.join(dataDir, 'redis.pid'));
  if (left) {
    log(`using the Redis that an earlier run left (pid ${left.pid})`);
    return asServer(remembered, left.pid, waitForExit(left.pid), true);
  }

  const binary = await chooseRedis({
    binDir: path.resolve(binDir ?? path.join(dataDir, 'redis-bin')),
    env,
    log,
    signal,
  });
  let access = { ...remembered, port: await choosePort(port, remembered.port) };
  for (let tries = 1; ; tries += 1) {
    const started = await launchRedis({ binary, access, dir, dataDir, durable });
    if (!('failure' in started)) return asServer(access, started.pid, started.exited, false);
    if (!/Address already in use/.test(started.failure) || port !== undefined || tries === 5) {
      throw new Error(`Redis did not start on port ${access.port}: ${started.failure}`);
    }
    access = { ...access, port: await findFreePort() };
  }
};

const pidIn = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8').trim());
  } catch {
    return 0;
  }
};

/** Takes over the server that runs on `dir`. Returns its pid, or null when there is none. */
const adoptRedis = (access: Access, dir: string, pidFile: string) =>
  adoptServer(`Redis left running on ${dir}`, async () => {
    const pid = pidIn(pidFile);
    const owner = pid > 0 ? inspectProcess(pid) : null;
    if (!owner || !/redis|valkey/.test(owner.name)) return null;
    const found = access.port > 0 ? await probeRedis(access) : { kind: 'absent' as const };
    if (found.kind === 'serving' && (found.pid !== pid || found.dir !== dir)) return null;
    // The pid in the file belongs to another Redis, which got the number after a crash.
    if (found.kind === 'foreign') return null;
    return { pid, port: access.port, state: found.kind };
  });

const quote = (value: string): string => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

// Written to a file, since every user of the machine can read the arguments of a process.
const configuration = (access: Access, dir: string, pidFile: string, durable: boolean): string =>
  [
    ...['bind 127.0.0.1', `port ${access.port}`, `requirepass ${access.password}`, 'daemonize no', 'save ""'],
    ...[`dir ${quote(dir)}`, `pidfile ${quote(pidFile)}`, `appendonly ${durable ? 'yes' : 'no'}`],
    ...['maxmemory-policy noeviction', 'appendfsync everysec', 'loglevel notice', ''],
  ].join('\n');

type LaunchRedis = { binary: RedisBinary; access: Access; dir: string; dataDir: string; durable: boolean };

/** Starts the server process on `dir` and waits until it is ready or has ended. */
const launchRedis = ({ binary, access, dir, dataDir, durable }: LaunchRedis): Promise<Launched> => {
  const file = path.join(dataDir, 'redis.conf');
  writeFileSync(file, configuration(access, dir, path.join(dataDir, 'redis.pid'), durable), { mode: 0o600 });
  return launchServer({
    command: [binary.file, file],
    options: { cwd: dir, env: redisEnvironment(binary) },
    logFile: path.join(dataDir, 'redis.log'),
    isReady: async (pid) => {
      const state = await probeRedis(access);
      return state.kind === 'serving' && state.pid === pid;
    },
    stop: { signal: 'SIGTERM', timeoutMs: 2_000 },
  });
};

/** The state of a Redis port; `serving` includes the pid and the data directory that the server reports. */
type RedisState =
  | { kind: 'serving'; pid: number; dir: string }
  | { kind: 'starting' | 'absent' | 'hanging' | 'foreign' };

const classify = (error: NodeJS.ErrnoException): RedisState => {
  if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') return { kind: 'absent' };
  if (/LOADING|MASTERDOWN/.test(error.message)) return { kind: 'starting' };
  if (error.code === 'ETIMEDOUT' || /timed out/i.test(error.message)) return { kind: 'hanging' };
  return { kind: 'foreign' };
};

/** Connects to the server on `port` once and identifies it. Never rejects. */
const probeRedis = async ({ port, password }: Access): Promise<RedisState> => {
  const redis = new Redis({
    ...{ host: '127.0.0.1', port, password, lazyConnect: true, enableReadyCheck: false, disconnectTimeout: 1 },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  });
  let connection: NodeJS.ErrnoException | undefined;
  redis.on('error', (error: NodeJS.ErrnoException) => {
    connection = error;
  });
  // One deadline for the whole probe; the client's own time-outs would add up.
  const deadline = setTimeout(() => {
    connection ??= new Error('timed out');
    redis.disconnect();
  }, PROBE_TIMEOUT_MS);
  try {
    await redis.connect();
    // PING is refused while the AOF is loaded; INFO and CONFIG are not.
    await redis.ping();
    const [, dir = ''] = (await redis.config('GET', 'dir')) as string[];
    const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    return { kind: 'serving', pid, dir };
  } catch (error) {
    return classify(connection ?? (error as NodeJS.ErrnoException));
  } finally {
    clearTimeout(deadline);
    redis.disconnect();
  }
};
