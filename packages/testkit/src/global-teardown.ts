import type { TestServers } from './test-servers.js';

/** After all tests: nothing of the run is left. */
export default async (): Promise<void> => {
  await (globalThis as { vatTestServers?: TestServers }).vatTestServers?.stop();
};
