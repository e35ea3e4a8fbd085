import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from './run-program.js';
import { makeServersFolder } from './servers-folder.js';

/** Names of the variables with the URLs of the run's servers, for jest's workers. */
export const POSTGRES_VARIABLE = 'VAT_TEST_POSTGRES';
export const REDIS_VARIABLE = 'VAT_TEST_REDIS';

/** A variable that the run sets for its tests. */
export const inherited = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run tests by npm test`);
  return value;
};

/** The database that worlds are cloned from. */
export const TEMPLATE = 'vat_template';

export type TestServers = {
  databaseUrl: string;
  redisUrl: string;
  /** Process ids; for Postgres that of the postmaster, whose children do the work. */
  pids: { postgres: number; redis: number };
  /** Ends the servers and removes their files. */
  stop: () => Promise<void>;
};

/** The processes of Postgres that crashed, each with what it was running: every test that used it meanwhile has failed. */
export const crashesIn = (log: string): string[] =>
  log.match(/^.*(?:was terminated by signal|PANIC).*(?:\n.* DETAIL: .*(?:\n\s.*)*)?/gm) ?? [];

/**
 * Starts the Postgres and Redis of one test run on free ports and in a separate folder, so that parallel runs do not interfere,
 * and migrates the template. Their data is not needed after the run, so it is not durable, except where the time for a disk
 * is part of what is measured.
 */
export const startTestServers = async ({ durable = false } = {}): Promise<TestServers> => {
  // Loaded on demand: it runs once, but every test file loads this module for the names above.
  const { startPostgres, startRedis } = await import('@vat/embedded');
  const { folder, binDir } = makeServersFolder(durable);
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: folder, durable, database: TEMPLATE }),
    startRedis({ dataDir: folder, durable, binDir }),
  ]);
  const stop = async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
    for (const crash of crashesIn(readFileSync(path.join(folder, 'postgres.log'), 'utf8')))
      process.stderr.write(`${crash}\n`);
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

/** The statement that clones the template through the log. A copy of its files would wait for a checkpoint of all databases. */
export const cloneStatement = (name: string): string => `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`;

/** A random name that is unique over all runs. */
export const worldName = (): string => `w_${randomBytes(8).toString('hex')}`;
