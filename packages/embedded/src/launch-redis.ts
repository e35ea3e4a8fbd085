import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type RedisBinary, redisEnvironment } from './find-redis.js';
import { openLog } from './open-log.js';
import { probeRedis } from './probe-redis.js';
import type { Access } from './remembered-access.js';
import { stopProcess } from './stop-process.js';
import { waitForExit } from './wait-for-exit.js';

const READY_MS = 60_000;

const quote = (value: string): string => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

// In a file and not in the arguments: every user of the machine can read those.
const configuration = (access: Access, dir: string, pidFile: string, durable: boolean): string =>
  [
    ...['bind 127.0.0.1', `port ${access.port}`, `requirepass ${access.password}`, 'daemonize no', 'save ""'],
    ...[`dir ${quote(dir)}`, `pidfile ${quote(pidFile)}`, `appendonly ${durable ? 'yes' : 'no'}`],
    ...['maxmemory-policy noeviction', 'appendfsync everysec', 'loglevel notice', ''],
  ].join('\n');

type LaunchRedis = { binary: RedisBinary; access: Access; dir: string; dataDir: string; durable: boolean };
/** A Redis that serves, or what its log says about why it does not. */
export type LaunchedRedis = { pid: number; exited: Promise<string> } | { failure: string };

/** Starts the server process on `dir`, once, and waits until it serves or ends. */
export const launchRedis = async ({ binary, access, dir, dataDir, durable }: LaunchRedis): Promise<LaunchedRedis> => {
  const file = path.join(dataDir, 'redis.conf');
  writeFileSync(file, configuration(access, dir, path.join(dataDir, 'redis.pid'), durable), { mode: 0o600 });
  const output = openLog(path.join(dataDir, 'redis.log'));
  // Detached, in a session of its own: Ctrl-C in the terminal must not end it before the workers have put their work back.
  const child = spawn(binary.file, [file], {
    ...{ cwd: dir, env: redisEnvironment(binary), detached: true },
    stdio: ['ignore', output.fd, output.fd],
  });
  child.unref();
  output.close();
  const exited = waitForExit(child);
  let ended: string | null = null;
  void exited.then((reason) => {
    ended = reason;
  });
  const deadline = Date.now() + READY_MS;
  while (Date.now() < deadline) {
    if (ended !== null || child.pid === undefined) return { failure: output.tail() || (await exited) };
    const state = await probeRedis(access);
    if (state.kind === 'serving' && state.pid === child.pid) return { pid: child.pid, exited };
    await wait(20);
  }
  await stopProcess({ pid: child.pid ?? 0, exited, steps: [{ signal: 'SIGTERM', timeoutMs: 2_000 }] });
  return { failure: `not ready after ${READY_MS / 1000} s: ${output.tail()}` };
};
