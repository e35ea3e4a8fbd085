import { bundlePrograms } from './bundle-programs.js';
import { PROGRAMS_VARIABLE } from './run-program.js';
import { POSTGRES_VARIABLE, REDIS_VARIABLE, startTestServers, type TestServers } from './test-servers.js';

declare global {
  // Jest runs set-up and teardown as two modules of one process; this is how it has them share.
  var vatTestServers: TestServers | undefined;
}

/** Before all tests: the programs that they start, and the run's own Postgres and Redis. */
export default async (): Promise<void> => {
  const programs = await bundlePrograms();
  // Migrates by the program as it ships.
  globalThis.vatTestServers = await startTestServers();
  process.env[PROGRAMS_VARIABLE] = programs;
  process.env[POSTGRES_VARIABLE] = globalThis.vatTestServers.databaseUrl;
  process.env[REDIS_VARIABLE] = globalThis.vatTestServers.redisUrl;
};
