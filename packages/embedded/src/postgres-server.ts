import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createFolder } from './create-folder.js';
import {
  type Access,
  adoptServer,
  choosePort,
  type EmbeddedServer,
  ofOtherUser,
  REACH_TIMEOUT_MS,
  recallAccess,
  rememberAccess,
  unreachable,
} from './embedded-server.js';
import {
  choosePostgresDataDirectory,
  findPostgresPackage,
  makeCluster,
  type PostgresLocation,
} from './postgres-package.js';
import {
  findFreePort,
  inspectProcess,
  type Launched,
  launchServer,
  stopProcess,
  waitForExit,
} from './server-process.js';

/** How long to retry a start that fails because resources of an earlier server are still in use. */
const RETRY_TIMEOUT_MS = 10_000;
// After kill -9 the backends of the old server hold its shared memory, and possibly its socket, for about a second.
const STILL_IN_USE = /shared memory block|lock file "postmaster.pid"/;
const PORT_TAKEN = /Address already in use/;
const ABSENT = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
// cannot_connect_now (starting, recovering, stopping) and too_many_connections: the server runs, so the caller waits.
const STARTING = new Set(['57P03', '53300']);

/** Options of {@link startPostgres}. */
type StartPostgres = {
  /** Contains the cluster (`postgres/`), its log and its access data; created when missing. */
  dataDir: string;
  /** A required port. By default the last port is reused if it is free; otherwise a new one is chosen. */
  port?: number | undefined;
  /** False (tests only) trades durability for speed: a crash of the machine may corrupt the cluster. */
  durable?: boolean | undefined;
  /** The database in `url`; created when missing. Default `vat`. */
  database?: string | undefined;
  /** Called with one line about anything unusual. */
  log?: ((line: string) => void) | undefined;
};

/**
 * Starts Postgres 18 on 127.0.0.1 (UTC, SCRAM, a password that is generated once), or takes over the server that a killed
 * parent left running on the same `dataDir`. Throws a readable Error without binaries, with a taken `port`, or when the
 * directory cannot be used.
 */
export const startPostgres = async ({
  dataDir: folder,
  port,
  durable = true,
  database = 'vat',
  log = () => undefined,
}: StartPostgres): Promise<EmbeddedServer> => {
  const dataDir = path.resolve(folder);
  createFolder(dataDir);
  const location = choosePostgresDataDirectory(dataDir, findPostgresPackage());
  const accessFile = path.join(dataDir, 'postgres.json');
  let access = recallAccess(accessFile);
  const created = !hasCluster(location.cluster);
  if (created) {
    // The password is stored first: after a crash, a cluster with an unknown password would be unusable.
    rememberAccess(accessFile, access);
    await makeCluster({ location, password: access.password, durable });
  }

  const asServer = async (pid: number, exited: Promise<string>, reused: boolean): Promise<EmbeddedServer> => {
    rememberAccess(accessFile, access);
    await ensureDatabase(access, database);
    return {
      url: `postgresql://postgres:${access.password}@127.0.0.1:${access.port}/${database}`,
      ...{ port: access.port, pid, reused, created, exited },
      // SIGINT ends sessions and writes a checkpoint; after SIGQUIT the next start runs a recovery instead.
      stop: ({ timeoutMs = 5_000, force } = {}) =>
        stopProcess({
          ...{ pid, exited, force },
          steps: [
            { signal: 'SIGINT', timeoutMs },
            { signal: 'SIGQUIT', timeoutMs: 500 },
          ],
        }),
    };
  };

  const left = await adoptPostgres(location.cluster, access.password);
  if (left) {
    log(`using the Postgres that an earlier run left (pid ${left.pid})`);
    access = { ...access, port: left.port };
    return asServer(left.pid, waitForExit(left.pid), true);
  }

  access = { ...access, port: await choosePort(port, access.port) };
  const deadline = Date.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    const started = await launchPostgres({ location, access, durable, logFile: path.join(dataDir, 'postgres.log') });
    if (!('failure' in started)) return asServer(started.pid, started.exited, false);
    const portTaken = PORT_TAKEN.test(started.failure);
    if (Date.now() > deadline || !(portTaken || STILL_IN_USE.test(started.failure))) {
      throw new Error(`Postgres did not start on port ${access.port}: ${started.failure}`);
    }
    if (portTaken && port === undefined) access = { ...access, port: await findFreePort() };
    await wait(100);
  }
};

/** Whether there is a cluster. Throws when it cannot be seen, since it belongs to another user. */
const hasCluster = (cluster: string): boolean => {
  const file = path.join(cluster, 'PG_VERSION');
  try {
    return statSync(file).isFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw ofOtherUser(file, code);
  }
};

const ensureDatabase = (access: Access, database: string): Promise<unknown> =>
  probePostgres(access, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  });

/** Takes over the server that runs on `cluster`. Returns its pid and port, or null when there is none. */
const adoptPostgres = (cluster: string, password: Access['password']) => {
  const pidFile = path.join(cluster, 'postmaster.pid');
  return adoptServer(`Postgres left running on ${cluster}`, async () => {
    const left = readPidFile(pidFile);
    const owner = left && inspectProcess(left.pid);
    if (!left || !owner) return null;
    if (!path.basename(owner.name).startsWith('postgres')) {
      // After a crash another process has the pid, so Postgres would refuse to start. Postgres ignores the pid of its parent
      // (this process) and then checks the shared memory; without the file it would skip that check.
      writeFileSync(pidFile, [String(process.pid), ...left.lines.slice(1)].join('\n'));
      return null;
    }
    const [, running = ''] = left.lines;
    if (existsSync(running) && realpathSync(running) !== realpathSync(cluster))
      throw new Error(
        `${cluster} is a copy of ${running}, made while Postgres ran on it, and is incomplete: ` +
          'start with an empty DATA_DIR, and copy the data with admin backup and admin restore',
      );
    const state = left.port > 0 ? await probePostgres({ port: left.port, password }) : 'starting';
    if (state === 'foreign')
      throw new Error(`a Postgres runs on ${cluster} that rejects the password stored beside it`);
    return { pid: left.pid, port: left.port, state };
  });
};

const readPidFile = (file: string): { pid: number; port: number; lines: string[] } | null => {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    const pid = Number(lines[0]);
    return pid > 0 ? { pid, port: Number(lines[3]), lines } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const settings = (durable: boolean): string[] =>
  [
    ...[
      'timezone=UTC',
      'log_timezone=UTC',
      'max_connections=300',
      'shared_buffers=128MB',
      'listen_addresses=127.0.0.1',
    ],
    // Otherwise the commit that needs a new segment of the log fills its 16 MB with zeros first: 40 to 80 ms in which every other
    // commit waits, about once a file of 10 000 lines. A server of one's own avoids them with a larger min_wal_size.
    'wal_init_zero=off',
    ...['unix_socket_directories=', 'logging_collector=off', 'password_encryption=scram-sha-256'],
    // "terse" omits DETAIL lines, which quote rows, from the log. In tests they contain the statement of a process that crashed.
    // Never synchronous_commit=off: tests kill the server, and what it acknowledged has to be there afterwards.
    ...(durable ? ['fsync=on', 'log_error_verbosity=terse'] : ['fsync=off', 'full_page_writes=off']),
  ].flatMap((setting) => ['-c', setting]);

/** For glibc: a server that reads memory after it was freed ends at once, and not just when others have used that memory. */
const OVERWRITE_FREED_MEMORY = { MALLOC_PERTURB_: '171' };

type LaunchPostgres = { location: PostgresLocation; access: Access; durable: boolean; logFile: string };

/** Starts the server process on an existing cluster and waits until it is ready or has ended. */
const launchPostgres = ({ location, access, durable, logFile }: LaunchPostgres): Promise<Launched> =>
  launchServer({
    command: [
      path.join(location.native, 'bin/postgres'),
      ...['-D', location.cluster, '-p', String(access.port), ...settings(durable)],
    ],
    options: {
      ...location.ids,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...(durable ? {} : OVERWRITE_FREED_MEMORY) },
    },
    logFile,
    isReady: async () => (await probePostgres(access)) === 'serving',
    stop: { signal: 'SIGQUIT', timeoutMs: 2_000 },
  });

/** The state of a Postgres port: ready, not ready yet, no listener, no response, or a server with another password. */
type PostgresState = 'serving' | 'starting' | 'absent' | 'hanging' | 'foreign';

/** Connects once as the superuser; when the server is ready, runs `use` on the connection. Rejects only when `use` does. */
const probePostgres = async (
  { port, password }: Access,
  use: (client: pg.Client) => Promise<unknown> = async () => undefined,
): Promise<PostgresState> => {
  // Every field is set, since pg reads missing ones from PG* variables.
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres', ssl: false, options: '' },
    connectionTimeoutMillis: 1_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code) || message.includes('terminated unexpectedly')) return 'absent';
    if (STARTING.has(code)) return 'starting';
    return message.includes('timeout') ? 'hanging' : 'foreign';
  }
  try {
    await use(client);
    return 'serving';
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Connects once to an external Postgres. Throws an Error that names the setting, the host and the reason. */
export const reachPostgres = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: REACH_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    throw unreachable('DATABASE_URL', url, error);
  } finally {
    await client.end().catch(() => undefined);
  }
};
