import { fileURLToPath } from 'node:url';
import {
  completeBatches,
  type Database,
  dueDeliveries,
  dueStamps,
  endLostLines,
  endRemovedDeliveries,
  endRequest,
  holdDeliveries,
  migrate,
  overdueRequests,
  queuesToDispatch,
  releaseOrphans,
  requestsToAbandon,
  resumeDeliveries,
} from '@vat/db';
import { sweepBatches, sweepDeliveries, sweepRequests, sweepStamps } from '@vat/domain';
import { enqueueDeliveries, enqueueDelivery, enqueueDispatches, enqueueOverdue, enqueueStamps } from '@vat/queues';
import { readSettings } from '@vat/runtime';
import type { Commands } from '../command.js';
import { withProducer } from '../command.js';

/** The folder of this release's migrations. */
export const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/** migrate, reconcile. */
export const operationCommands = (
  db: Database,
  databaseUrl: string,
  env: NodeJS.ProcessEnv,
  now: () => Date,
): Commands => ({
  migrate: async () => ({ applied: await migrate(databaseUrl, MIGRATIONS) }),
  reconcile: async () => {
    const settings = readSettings(env, 'admin', ['BACKGROUND_GIVE_UP_AFTER', 'UPSTREAM_WINDOW']);
    return withProducer(env, async (producer) => {
      const requests = sweepRequests({
        overdue: overdueRequests(db),
        toAbandon: requestsToAbandon(db),
        endRequest: endRequest(db),
        releaseOrphans: releaseOrphans(db),
        enqueue: enqueueOverdue(producer),
        enqueueDelivery: enqueueDelivery(producer),
        giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
        windowMs: settings.UPSTREAM_WINDOW,
        now,
      });
      const complete = completeBatches(db);
      const batches = sweepBatches({
        endLost: endLostLines(db),
        complete: (at) => complete(null, at),
        queuesToDispatch: queuesToDispatch(db),
        dispatch: enqueueDispatches(producer),
        enqueueDelivery: enqueueDelivery(producer),
        now,
      });
      const deliveries = sweepDeliveries({
        due: dueDeliveries(db),
        hold: holdDeliveries(db),
        resume: resumeDeliveries(db),
        endRemoved: endRemovedDeliveries(db),
        enqueue: enqueueDeliveries(producer),
        now,
      });
      const stamps = sweepStamps({ due: dueStamps(db), enqueue: enqueueStamps(producer), now });
      return {
        ...(await requests({ everything: true })),
        ...(await batches()),
        ...(await deliveries({ everything: true })),
        ...(await stamps({ everything: true })),
      };
    });
  },
});
