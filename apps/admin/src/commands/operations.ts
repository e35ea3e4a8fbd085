import { fileURLToPath } from 'node:url';
import { composeSweep } from '@vat/composition';
import { type Database, migrate, runAlone } from '@vat/db';
import { readSettings } from '@vat/runtime';
import { type Commands, UsageError, withProducer } from '../command.js';

/** The folder of this release's migrations. */
export const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/** How long `reconcile` waits for the sweep of a worker. */
const SWEEP_WAIT_MS = 60_000;

/** migrate, reconcile. */
export const operationCommands = (
  db: Database,
  databaseUrl: string,
  env: NodeJS.ProcessEnv,
  now: () => Date,
): Commands => ({
  migrate: async () => ({ applied: await migrate(databaseUrl, MIGRATIONS) }),
  reconcile: async () => {
    const settings = readSettings(env, 'admin', ['UPSTREAM_WINDOW']);
    return withProducer(env, now, async (producer) => {
      const done: Record<string, number> = {};
      // A worker's sweep raises the alarm for requests that were never looked up; the result says how many lines ended.
      const sweep = composeSweep({
        db,
        producer,
        windowMs: settings.UPSTREAM_WINDOW,
        report: (counts) => Object.assign(done, counts),
        now,
      });
      const swept = await runAlone(db)('sweep', () => sweep({ everything: true }), SWEEP_WAIT_MS);
      if (swept === null)
        throw new UsageError('Another sweep has been running for a minute. Try again when it has ended.');
      return done;
    });
  },
});
