import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres, startRedis } from '@vat/embedded';
import { runProgram } from '@vat/testkit';

/** The servers of a benchmark, as durable as in production. `stop` ends them and removes their files. */
export type BenchServers = {
  databaseUrl: string;
  redisUrl: string;
  /** Process ids; for Postgres that of the postmaster, whose children do the work. */
  pids: { postgres: number; redis: number };
  stop: () => Promise<void>;
};

/** The testkit's name of the database that worlds are cloned from. */
const TEMPLATE = 'vat_template';

/**
 * Starts a Postgres and a Redis for the benchmark on free ports. Unlike those of a test run they are durable: every commit
 * waits for its fsync, and Redis writes its append-only file, because this is part of the cost of a check.
 */
export const openServers = async (projectRoot: string): Promise<BenchServers> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-bench-'));
  const binDir = path.join(projectRoot, '.data', 'redis-bin');
  mkdirSync(binDir, { recursive: true });
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: folder, database: TEMPLATE }),
    startRedis({ dataDir: folder, binDir }),
  ]);
  const stop = async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await runProgram('apps/admin/dist/main.js', ['migrate'], { DATABASE_URL: postgres.url });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    pids: { postgres: postgres.pid, redis: redis.pid },
    stop,
  };
};
