import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EmbeddedServer } from '@vat/embedded';
import pg from 'pg';
import { PROJECT_ROOT, runProgram } from './run-program.js';
import { TEMPLATE } from './test-servers.js';

/** A server that a test may take away. */
export type OwnServer = {
  url: string;
  pid: () => number;
  /** Ends it at once, as a crash would. */
  kill: () => Promise<void>;
  /** Stops it in its tracks: it holds its connections and answers nothing. */
  freeze: () => Promise<void>;
  thaw: () => void;
  /** Brings it back on the same address. Redis comes back empty, Postgres with what was committed. */
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

/** Postgres's own processes, listed while the parent is stopped already and can make no new ones. */
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

/** A Postgres and a Redis of the test's own, with the template that worlds are cloned from. Nothing of them is durable. */
export const startOwnServers = async (): Promise<OwnServers> => {
  const { startPostgres, startRedis } = await import('@vat/embedded');
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-own-'));
  const binDir = path.join(PROJECT_ROOT, '.data', 'redis-bin');
  mkdirSync(binDir, { recursive: true });
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
