import { fileURLToPath } from 'node:url';
import {
  type Database,
  dueDeliveries,
  endRemovedDeliveries,
  endRequest,
  migrate,
  overdueRequests,
  releaseOrphans,
  requestsToAbandon,
} from '@vat/db';
import { sweepDeliveries, sweepRequests } from '@vat/domain';
import { enqueueDeliveries, enqueueDelivery, enqueueOverdue } from '@vat/queues';
import { readSettings } from '@vat/runtime';
import { withProducer } from '../with-producer.js';
import type { Verb } from './verb.js';

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

/** migrate, reconcile. */
export const operationVerbs = (
  db: Database,
  databaseUrl: string,
  env: NodeJS.ProcessEnv,
  now: () => Date,
): Record<string, Verb> => ({
  migrate: {
    usage: 'migrate',
    flags: {},
    run: async () => ({ applied: await migrate(databaseUrl, MIGRATIONS) }),
  },
  reconcile: {
    usage: 'reconcile',
    flags: {},
    run: async () => {
      const settings = readSettings(env, ['BACKGROUND_GIVE_UP_AFTER', 'UPSTREAM_WINDOW']);
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
        const deliveries = sweepDeliveries({
          due: dueDeliveries(db),
          endRemoved: endRemovedDeliveries(db),
          enqueue: enqueueDeliveries(producer),
          now,
        });
        return { ...(await requests({ everything: true })), ...(await deliveries({ everything: true })) };
      });
    },
  },
});
