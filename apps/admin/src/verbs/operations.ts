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
import { connectRedis, createProducer, enqueueDeliveries, enqueueDelivery, enqueueOverdue } from '@vat/queues';
import { readSettings } from '@vat/runtime';
import { UsageError } from '../usage-error.js';
import type { Verb } from './verb.js';

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));
const REDIS_WAIT_MS = 5_000;

/** Resolves when the connection can be used, or throws. */
const ready = (redis: ReturnType<typeof connectRedis>): Promise<void> =>
  new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const timer = setTimeout(() => reject(new UsageError('Redis does not answer at REDIS_URL.')), REDIS_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });

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
      const settings = readSettings(env, ['REDIS_URL', 'REDIS_PREFIX', 'BACKGROUND_GIVE_UP_AFTER', 'UPSTREAM_WINDOW']);
      const redis = connectRedis(settings.REDIS_URL, 'producer', () => undefined);
      const producer = createProducer(redis, settings.REDIS_PREFIX);
      try {
        await ready(redis);
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
      } finally {
        await producer.close();
        redis.disconnect();
      }
    },
  },
});
