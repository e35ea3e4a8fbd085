import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresHome } from './choose-postgres-home.js';
import { openLog } from './open-log.js';
import { probePostgres } from './probe-postgres.js';
import type { Access } from './remembered-access.js';
import { stopProcess } from './stop-process.js';
import { waitForExit } from './wait-for-exit.js';

const READY_MS = 60_000;

const settings = (durable: boolean): string[] =>
  [
    ...[
      'timezone=UTC',
      'log_timezone=UTC',
      'max_connections=300',
      'shared_buffers=128MB',
      'listen_addresses=127.0.0.1',
    ],
    // "terse" keeps DETAIL lines, which quote rows, out of the log.
    ...[
      'unix_socket_directories=',
      'logging_collector=off',
      'log_error_verbosity=terse',
      'password_encryption=scram-sha-256',
    ],
    ...(durable ? ['fsync=on'] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ].flatMap((setting) => ['-c', setting]);

type LaunchPostgres = { home: PostgresHome; access: Access; durable: boolean; logFile: string };

/** A Postgres that serves, or what its log says about why it does not. */
export type LaunchedPostgres = { pid: number; exited: Promise<string> } | { failure: string };

/** Starts the server process on an existing cluster, once, and waits until it serves or ends. */
export const launchPostgres = async ({ home, access, durable, logFile }: LaunchPostgres): Promise<LaunchedPostgres> => {
  const output = openLog(logFile);
  // Detached, in a session of its own: Ctrl-C in the terminal must not end it before the workers have put their work back.
  const child = spawn(
    path.join(home.native, 'bin/postgres'),
    ['-D', home.cluster, '-p', String(access.port), ...settings(durable)],
    {
      ...home.ids,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', output.fd, output.fd],
      detached: true,
    },
  );
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
    const state = await probePostgres(access);
    // "serving" may be somebody else's answer while ours fails to bind; ours then ends at once and says so in the log.
    if (state === 'serving' && ended === null) return { pid: child.pid, exited };
    await wait(20);
  }
  await stopProcess({ pid: child.pid ?? 0, exited, steps: [{ signal: 'SIGQUIT', timeoutMs: 2_000 }] });
  return { failure: `not ready after ${READY_MS / 1000} s: ${output.tail()}` };
};
