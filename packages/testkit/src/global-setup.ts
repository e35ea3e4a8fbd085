import { bundlePrograms } from './bundle-programs.js';
import { PROGRAMS_VARIABLE } from './run-program.js';
import { POSTGRES_VARIABLE, REDIS_VARIABLE, startTestServers, type TestServers } from './test-servers.js';

declare global {
  // Jest runs set-up and teardown as two modules of one process; they share this variable.
  var vatTestServers: TestServers | undefined;
}

/** Runs before all tests: bundles the programs that tests start, and starts the run's own Postgres and Redis. */
export default async (): Promise<void> => {
  const programs = await bundlePrograms();
  // Runs the migration with the unbundled program.
  globalThis.vatTestServers = await startTestServers();
  process.env[PROGRAMS_VARIABLE] = programs;
  process.env[POSTGRES_VARIABLE] = globalThis.vatTestServers.databaseUrl;
  process.env[REDIS_VARIABLE] = globalThis.vatTestServers.redisUrl;
};
