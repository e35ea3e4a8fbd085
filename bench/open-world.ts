import { connectDatabase } from '@vat/db';
import { startWorld, type World } from '@vat/testkit';

/** The times of production instead of those of tests, without calls to outside sources. */
const PRODUCTION = {
  NODE_ENV: 'production',
  UPSTREAM_WINDOW: '20s',
  UPSTREAM_ATTEMPT_TIMEOUT: '20s',
  UPSTREAM_RETRY_DELAYS: '500ms,1s,2s,4s,8s',
  BACKPRESSURE_AFTER: '5s',
  BACKGROUND_RETRY_DELAYS: '30s,2m,10m,30m,1h',
  BACKGROUND_GIVE_UP_AFTER: '24h',
  SWEEP_EVERY: '10s',
  WATCHES_EVERY: '5s',
  ENRICHMENT_SOURCES: 'none',
};

type WorldOptions = { latencyMs?: number; apis?: number; workers?: number; settings?: Record<string, string> };

/**
 * A service with the settings of production, overridden by `settings`, and an upstream that answers after `latencyMs`: by default at
 * once, and without processes.
 */
export const openWorld = async ({
  latencyMs = 0,
  apis = 0,
  workers = 0,
  settings,
}: WorldOptions = {}): Promise<World> => {
  const world = await startWorld({ ownProcesses: true, apis, workers, settings: { ...PRODUCTION, ...settings } });
  await world.vies.defaults({ latency_ms: latencyMs });
  return world;
};

/** Runs `work` with {@link openWorld}, which is stopped afterwards. */
export const inWorld = async <T>(options: WorldOptions, work: (world: World) => Promise<T>): Promise<T> => {
  const world = await openWorld(options);
  try {
    return await work(world);
  } finally {
    await world.stop();
  }
};

/** Connects the benchmark itself to a database. */
export const connectBench = (
  url: unknown,
  options: { maxConnections: number; queryTimeoutMs?: number; keepOpen?: number },
) =>
  connectDatabase({
    ...{ url: String(url), queryTimeoutMs: 30_000, connectTimeoutMs: 5_000, applicationName: 'vat-bench' },
    ...options,
  });

/** Ends the benchmark with an error that nothing is expected to raise. */
export const raise = (error: unknown): never => {
  throw error;
};
