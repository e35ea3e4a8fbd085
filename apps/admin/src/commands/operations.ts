import { fileURLToPath } from 'node:url';
import {
  completeBatches,
  type Database,
  dueStamps,
  endLostLines,
  endRemovedDeliveries,
  endRequest,
  findLiveRequests,
  findPendingDeliveries,
  holdDeliveries,
  migrate,
  overdueDeliveries,
  overdueRequests,
  queuesToDispatch,
  releaseOrphans,
  requestsToAbandon,
  resumeDeliveries,
  runAlone,
} from '@vat/db';
import {
  endLateRequests,
  enqueueLostRequests,
  releaseOrphanedRequests,
  sweepBatches,
  sweepDeliveries,
  sweepStamps,
} from '@vat/domain';
import {
  deliveriesWithoutJob,
  enqueueDelivery,
  enqueueDispatches,
  enqueueLateDeliveries,
  enqueueLostStamps,
  enqueueOverdue,
  requestsWithoutJob,
} from '@vat/queues';
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
    return withProducer(env, async (producer) => {
      const abandon = endLateRequests({
        toAbandon: requestsToAbandon(db),
        endRequest: endRequest(db),
        enqueueDelivery: enqueueDelivery(producer),
        now,
      });
      const release = releaseOrphanedRequests({
        releaseOrphans: releaseOrphans(db),
        windowMs: settings.UPSTREAM_WINDOW,
        now,
      });
      const requests = enqueueLostRequests({
        overdue: overdueRequests(db),
        withoutJob: requestsWithoutJob(producer),
        findLive: findLiveRequests(db),
        enqueue: enqueueOverdue(producer),
        now,
      });
      const complete = completeBatches(db);
      const batches = sweepBatches({
        endLost: endLostLines(db),
        // The result says how many lines ended; a worker's sweep raises the alarm.
        onNeverAsked: () => undefined,
        complete: (at) => complete(null, at),
        queuesToDispatch: queuesToDispatch(db, () => new Date()),
        dispatch: enqueueDispatches(producer),
        enqueueDelivery: enqueueDelivery(producer),
        now,
      });
      const deliveries = sweepDeliveries({
        overdue: overdueDeliveries(db),
        hold: holdDeliveries(db),
        resume: resumeDeliveries(db),
        endRemoved: endRemovedDeliveries(db),
        withoutJob: deliveriesWithoutJob(producer),
        findPending: findPendingDeliveries(db),
        enqueueLate: enqueueLateDeliveries(producer),
        now,
      });
      const stamps = sweepStamps({ due: dueStamps(db), enqueueLost: enqueueLostStamps(producer), now });
      const swept = await runAlone(db)(
        'sweep',
        async () => ({
          ...(await abandon()),
          ...(await release()),
          ...(await requests({ everything: true })),
          ...(await batches()),
          ...(await deliveries({ everything: true })),
          ...(await stamps({ everything: true })),
        }),
        SWEEP_WAIT_MS,
      );
      if (swept === null)
        throw new UsageError('Another sweep has been running for a minute. Try again when it has ended.');
      return swept.done;
    });
  },
});
