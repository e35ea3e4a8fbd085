import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT, runProgram } from './run-program.js';

/** Names of the variables by which jest's workers learn of the servers of their run. */
export const POSTGRES_VARIABLE = 'VAT_TEST_POSTGRES';
export const REDIS_VARIABLE = 'VAT_TEST_REDIS';

/** The database that worlds are cloned from. */
export const TEMPLATE = 'vat_template';

export type TestServers = { databaseUrl: string; redisUrl: string; stop: () => Promise<void> };

/**
 * Starts the Postgres and Redis of one test run on free ports and in a folder of its own, so that two runs side by side
 * never meet, and migrates the template. Nothing of it outlives the run, so nothing of it is durable.
 */
export const startTestServers = async (): Promise<TestServers> => {
  // Once a run; every test file reads the names above.
  const { startPostgres, startRedis } = await import('@vat/embedded');
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-test-'));
  const binDir = path.join(PROJECT_ROOT, '.data', 'redis-bin');
  mkdirSync(binDir, { recursive: true });
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: folder, durable: false, database: TEMPLATE }),
    startRedis({ dataDir: folder, durable: false, binDir }),
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
  return { databaseUrl: postgres.url, redisUrl: redis.url, stop };
};

/**
 * The statement that clones the template. Its files are copied: page by page through the log, as is usual, would be five times
 * the work, for a copy that need not survive a crash.
 */
export const cloneStatement = (name: string): string =>
  `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`;

/** A name that no other world of any run has. */
export const worldName = (): string => `w_${randomBytes(8).toString('hex')}`;
