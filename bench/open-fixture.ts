import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres, startRedis } from '@vat/embedded';
import { runProgram } from '@vat/testkit';

/** The servers a bench runs on, as durable as in production. `stop` ends them and removes their files. */
export type Ground = {
  databaseUrl: string;
  redisUrl: string;
  /** Process ids: of Postgres the postmaster, whose children do the work. */
  pids: { postgres: number; redis: number };
  stop: () => Promise<void>;
};

/** What the testkit calls the database that worlds are cloned from. */
const TEMPLATE = 'vat_template';

/**
 * Starts a Postgres and a Redis of the bench's own on free ports. Unlike a test run's they are durable: every commit
 * waits for its fsync and Redis writes its append-only file, since that is a part of what a check costs.
 */
export const openFixture = async (projectRoot: string): Promise<Ground> => {
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
