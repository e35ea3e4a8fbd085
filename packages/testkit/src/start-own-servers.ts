import { rmSync } from 'node:fs';
import type { EmbeddedServer } from '@vat/embedded';
import pg from 'pg';
import { runProgram } from './run-program.js';
import { makeServersFolder } from './servers-folder.js';
import { TEMPLATE } from './test-servers.js';

/** A server that a test may stop. */
type OwnServer = {
  url: string;
  pid: () => number;
  /** Kills it, like a crash. */
  kill: () => Promise<void>;
  /** Suspends it: connections stay open and get no answer. */
  freeze: () => Promise<void>;
  thaw: () => void;
  /** Restarts it at the same address. Redis is empty then, Postgres has all committed data. */
  start: () => Promise<void>;
};

export type OwnServers = { postgres: OwnServer; redis: OwnServer; stop: () => Promise<void> };

const ownServer = async (
  start: (port?: number) => Promise<EmbeddedServer>,
  childrenOf: (url: string, stopParent: () => void) => Promise<number[]>,
): Promise<OwnServer & { stop: () => Promise<void> }> => {
  let server = await start();
  let frozen: number[] = [];
  return {
    url: server.url,
    pid: () => server.pid,
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    freeze: async () => {
      const children = await childrenOf(server.url, () => process.kill(server.pid, 'SIGSTOP'));
      for (const pid of children) process.kill(pid, 'SIGSTOP');
      frozen = [...children, server.pid];
    },
    thaw: () => {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      frozen = [];
    },
    start: async () => {
      server = await start(server.port);
    },
    stop: async () => {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      await server.stop();
    },
  };
};

/** Redis is one process. */
const noChildren = (_url: string, stopParent: () => void): Promise<number[]> => {
  stopParent();
  return Promise.resolve([]);
};

/** The child processes of Postgres. They are listed after the parent was suspended, so that it cannot start new ones. */
const backends = async (url: string, stopParent: () => void): Promise<number[]> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  stopParent();
  try {
    const { rows } = await client.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
    );
    return rows.map((row) => row.pid);
  } finally {
    await client.end();
  }
};

/** Starts a Postgres and a Redis for one test file, with the template database. Their data is not durable. */
export const startOwnServers = async (): Promise<OwnServers> => {
  const { startPostgres, startRedis } = await import('@vat/embedded');
  const { folder, binDir } = makeServersFolder(false);
  const [postgres, redis] = await Promise.all([
    ownServer((port) => startPostgres({ dataDir: folder, durable: false, database: TEMPLATE, port }), backends),
    ownServer((port) => startRedis({ dataDir: folder, durable: false, binDir, port }), noChildren),
  ]);
  await runProgram('apps/admin/dist/main.js', ['migrate'], { DATABASE_URL: postgres.url });
  return {
    postgres,
    redis,
    stop: async () => {
      await Promise.all([postgres.stop(), redis.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
