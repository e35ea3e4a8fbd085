import { type ConnectedDatabase, connectDatabase } from '@vat/db';
import type { World } from '@vat/testkit';

/** Connects to the database of a world, as its processes do. */
export const connectTo = (world: World, maxConnections = 1): ConnectedDatabase =>
  connectDatabase({
    url: String(world.settings.DATABASE_URL),
    maxConnections,
    queryTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-test',
  });
