import { overdueBefore } from '../overdue.js';
import { readPages } from '../read-pages.js';
import type { DueCursor, DueDelivery, OverdueDeliveries } from './delivery.js';

type SweepDeliveriesDeps = {
  /** Pending deliveries due before a moment that are not held, oldest first, in pages of `limit`. */
  overdue: (before: Date, after: DueCursor | null, limit: number) => Promise<OverdueDeliveries>;
  /** Holds deliveries while their account is disabled; returns how many were held. */
  hold: (deliveryIds: string[]) => Promise<number>;
  /** Ends the hold of deliveries whose account is enabled: at most `limit` of each account, those due first before others. */
  resume: (limit: number) => Promise<DueDelivery[]>;
  /** Ends those of the pending deliveries whose endpoint is gone; returns how many. */
  endRemoved: (now: Date, deliveryIds: string[]) => Promise<number>;
  /** The ids of those that have no job. */
  withoutJob: (deliveries: OverdueDeliveries['toSend'], scope: { everything: boolean }) => Promise<string[]>;
  /** Those of the deliveries that are still pending and not held. */
  findPending: (deliveryIds: string[]) => Promise<DueDelivery[]>;
  /** Enqueues deliveries that are late; an existing job is not changed. */
  enqueueLate: (deliveries: DueDelivery[]) => Promise<void>;
  now: () => Date;
};

const PAGE = 5_000;
/** Deliveries of one account that a sweep resumes: about as many as its share of the workers can attempt until the next sweep. */
const RESUMED_AT_ONCE = 500;

/** What a sweep found and did. */
type SweptDeliveries = { deliveries: number; removed: number; held: number; resumed: number };

/**
 * Enqueues overdue deliveries whose job is missing, and ends those that were written while their endpoint was being removed.
 * (Usually their job does: a delivery is due as soon as it is written.)
 * With `everything`, after a loss of Redis, deliveries that are due later are enqueued as well.
 *
 * Deliveries of a disabled account get no job: they are marked as held and are no longer due, so that ten thousand of them
 * cost later sweeps nothing. Once the account is enabled, each sweep resumes some of them.
 */
export const sweepDeliveries =
  ({ overdue, hold, resume, endRemoved, withoutJob, findPending, enqueueLate, now }: SweepDeliveriesDeps) =>
  async ({ everything }: { everything: boolean }): Promise<SweptDeliveries> => {
    const swept: SweptDeliveries = { deliveries: 0, removed: 0, held: 0, resumed: 0 };
    const resumed = await resume(RESUMED_AT_ONCE);
    await enqueueLate(resumed);
    swept.resumed = resumed.length;

    const before = overdueBefore(everything, now());
    for await (const page of readPages((after: DueCursor | null) => overdue(before, after, PAGE))) {
      if (page.toHold.length > 0) swept.held += await hold(page.toHold);
      if (page.toEnd.length > 0) swept.removed += await endRemoved(now(), page.toEnd);
      const lost = await withoutJob(page.toSend, { everything });
      if (lost.length === 0) continue;
      const deliveries = await findPending(lost);
      await enqueueLate(deliveries);
      swept.deliveries += deliveries.length;
    }
    return swept;
  };
