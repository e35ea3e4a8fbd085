import type { FeedLane } from '@vat/domain';
import type { Producer } from './create-producer.js';
import { batchesQueue } from './job-catalogue.js';

/** Feeds that are not due yet share a job with those that are due at nearly the same time: one line more or less a second. */
const TOGETHER_MS = 1_000;
/** From here on they share it with those of ten seconds. */
const FAR_MS = 60_000;

/** Due times that are told apart: what waits longer may be a little later. Never before the due time. */
const sharedMoment = (dueAt: Date, now: number): number => {
  const apart = dueAt.getTime() - now < FAR_MS ? TOGETHER_MS : 10 * TOGETHER_MS;
  return Math.ceil(dueAt.getTime() / apart) * apart;
};

/**
 * Has lanes of waiting lines fed, now or at `dueAt`. Each call of this moment is a job of its own, since one that already
 * runs may have looked before there was anything to see.
 */
export const enqueueFeeds =
  (producer: Pick<Producer, 'enqueue'>) =>
  async (lanes: readonly FeedLane[], dueAt?: Date): Promise<void> => {
    const now = Date.now();
    const at = dueAt === undefined || dueAt.getTime() <= now ? now : sharedMoment(dueAt, now);
    await Promise.all(
      lanes.map((lane) =>
        producer.enqueue({
          definition: batchesQueue,
          payload: { lane, at },
          ...(at > now ? { dueAt: new Date(at) } : {}),
        }),
      ),
    );
  };
