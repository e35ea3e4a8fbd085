import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseRedis } from './choose-redis.js';
import type { EmbeddedServer } from './embedded-server.js';
import { findFreePort, isPortFree } from './find-free-port.js';
import { inspectProcess } from './inspect-process.js';
import { launchRedis } from './launch-redis.js';
import { probeRedis } from './probe-redis.js';
import { type Access, recallAccess, rememberAccess } from './remembered-access.js';
import { stopProcess } from './stop-process.js';
import { waitForExit } from './wait-for-exit.js';

/** How Redis is started. */
export type StartRedis = {
  /** Holds the append-only file (`redis/`), the log, the access data and by default `redis-bin/`; made when missing. */
  dataDir: string;
  /** A port that must be used; without one the last port is used again while it is free, else a new one. */
  port?: number | undefined;
  /** Where a fetched redis-server is kept and looked for. Default `dataDir/redis-bin`. */
  binDir?: string | undefined;
  /** False (tests only): nothing is written to disk. */
  durable?: boolean | undefined;
  /** PATH and proxy settings. Default: the usual folders, no proxy. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Hears one line about anything out of the ordinary. */
  log?: ((line: string) => void) | undefined;
  /** Gives up fetching redis-server. */
  signal?: AbortSignal | undefined;
};

const USUAL_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin', '/opt/homebrew/bin'];
const PATIENCE_MS = 30_000;
const HANGING_PROBES = 3;

const pidIn = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8').trim());
  } catch {
    return 0;
  }
};

// The server a killed parent left: waited for while it reads its file or ends, killed when it hangs (a SIGSTOP).
const adopt = async (access: Access, dir: string, pidFile: string): Promise<number | null> => {
  const deadline = Date.now() + PATIENCE_MS;
  let hanging = 0;
  while (Date.now() < deadline) {
    const pid = pidIn(pidFile);
    const owner = pid > 0 ? inspectProcess(pid) : null;
    if (!owner || !/redis|valkey/.test(owner.name)) return null;
    const state = access.port > 0 ? await probeRedis(access) : { kind: 'absent' as const };
    if (state.kind === 'serving') return state.pid === pid && state.dir === dir ? pid : null;
    // Not the server of our pid file then: that number went to another Redis after a crash.
    if (state.kind === 'foreign') return null;
    hanging = state.kind === 'hanging' ? hanging + 1 : 0;
    if (hanging >= HANGING_PROBES) process.kill(pid, 'SIGKILL');
    await wait(50);
  }
  throw new Error(`the Redis left running on ${dir} neither serves nor ends`);
};

/**
 * Starts Redis on 127.0.0.1 (append-only file, noeviction, a password made once), or takes over the one that a killed parent
 * left on the same `dataDir`. Throws an Error with a readable message: no binary to be had, a taken `port`, an unusable directory.
 */
export const startRedis = async ({
  dataDir: folder,
  port,
  binDir,
  durable = true,
  env = { PATH: USUAL_PATH.join(path.delimiter) },
  log = () => undefined,
  signal,
}: StartRedis): Promise<EmbeddedServer> => {
  mkdirSync(path.join(folder, 'redis'), { recursive: true, mode: 0o700 });
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

  const left = await adopt(remembered, dir, path.join(dataDir, 'redis.pid'));
  if (left) {
    log(`using the Redis that an earlier run left (pid ${left})`);
    return asServer(remembered, left, waitForExit(left), true);
  }

  const binary = await chooseRedis({
    binDir: path.resolve(binDir ?? path.join(dataDir, 'redis-bin')),
    env,
    log,
    signal,
  });
  const lastIsFree = remembered.port > 0 && (await isPortFree(remembered.port));
  let access = { ...remembered, port: port ?? (lastIsFree ? remembered.port : await findFreePort()) };
  for (let tries = 1; ; tries += 1) {
    const started = await launchRedis({ binary, access, dir, dataDir, durable });
    if (!('failure' in started)) return asServer(access, started.pid, started.exited, false);
    if (!/Address already in use/.test(started.failure) || port !== undefined || tries === 5) {
      throw new Error(`Redis did not start on port ${access.port}: ${started.failure}`);
    }
    access = { ...access, port: await findFreePort() };
  }
};
