import type { DueCursor, DueDelivery, OverdueDelivery } from './delivery.js';

type SweepDeliveriesDeps = {
  /** Pending deliveries due before a moment that are not held, oldest first, in chunks of `limit`. */
  due: (before: Date, after: DueCursor | null, limit: number) => Promise<OverdueDelivery[]>;
  /** Holds deliveries while their account is disabled; returns how many were held. */
  hold: (deliveryIds: string[]) => Promise<number>;
  /** Ends the hold of deliveries whose account is enabled: at most `limit` of each account, those due first before others. */
  resume: (limit: number) => Promise<DueDelivery[]>;
  /** Ends pending deliveries whose endpoint is gone; returns how many. */
  endRemoved: (now: Date) => Promise<number>;
  /** Enqueues the job of each delivery; an existing job is not changed. */
  enqueue: (deliveries: DueDelivery[]) => Promise<void>;
  now: () => Date;
};

/** A job that is this late is assumed lost. Enqueueing one that exists changes nothing. */
const GRACE_MS = 5_000;
/** Later than the due time of any retry. */
const FAR_FUTURE = new Date('9000-01-01T00:00:00.000Z');
const CHUNK = 500;
/** Deliveries of one account that a sweep resumes: about as many as its share of the workers can attempt until the next sweep. */
const RESUMED_AT_ONCE = 500;

/** What a sweep found and did. */
type SweptDeliveries = { deliveries: number; removed: number; held: number; resumed: number };

/**
 * Enqueues overdue deliveries whose job is missing, and ends those that were written while their endpoint was being removed.
 * With `everything`, after a loss of Redis, deliveries that are due later are enqueued as well.
 *
 * Deliveries of a disabled account get no job: they are marked as held and are no longer due, so that ten thousand of them
 * cost later sweeps nothing. Once the account is enabled, each sweep resumes some of them.
 */
export const sweepDeliveries =
  ({ due, hold, resume, endRemoved, enqueue, now }: SweepDeliveriesDeps) =>
  async ({ everything }: { everything: boolean }): Promise<SweptDeliveries> => {
    const swept: SweptDeliveries = { deliveries: 0, removed: await endRemoved(now()), held: 0, resumed: 0 };
    const resumed = await resume(RESUMED_AT_ONCE);
    if (resumed.length > 0) await enqueue(resumed);
    swept.resumed = resumed.length;

    const before = everything ? FAR_FUTURE : new Date(now().getTime() - GRACE_MS);
    let after: DueCursor | null = null;
    for (;;) {
      const chunk: OverdueDelivery[] = await due(before, after, CHUNK);
      const toHold = chunk.filter(({ accountDisabled }) => accountDisabled);
      const toSend = chunk.filter(({ accountDisabled }) => !accountDisabled);
      if (toHold.length > 0) swept.held += await hold(toHold.map(({ id }) => id));
      if (toSend.length > 0) await enqueue(toSend);
      swept.deliveries += toSend.length;
      const last = chunk.at(-1);
      if (!last || chunk.length < CHUNK) return swept;
      after = { dueAt: last.dueAt, id: last.id };
    }
  };
