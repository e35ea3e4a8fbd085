import type { TestServers } from './test-servers.js';

/** Runs after all tests: stops the servers of the run. */
export default async (): Promise<void> => {
  await (globalThis as { vatTestServers?: TestServers }).vatTestServers?.stop();
};
