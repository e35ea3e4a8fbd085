import type { DueCursor, DueDelivery } from './delivery.js';

export type SweepDeliveriesDeps = {
  /** Pending deliveries due before a moment, oldest first, a slice at a time. */
  due: (before: Date, after: DueCursor | null, limit: number) => Promise<DueDelivery[]>;
  /** Ends pending deliveries whose endpoint is gone; returns how many there were. */
  endRemoved: (now: Date) => Promise<number>;
  /** Gives each its job; a job that is still there is left alone. */
  enqueue: (deliveries: DueDelivery[]) => Promise<void>;
  now: () => Date;
};

/** A job that is this late is taken to be lost; adding one that is not changes nothing. */
const GRACE_MS = 5_000;
/** Later than any retry is due. */
const EVER = new Date('9000-01-01T00:00:00.000Z');
const SLICE = 500;

/** What a sweep found and did. */
export type SweptDeliveries = { deliveries: number; removed: number };

/**
 * The safety net under deliveries: those that are overdue get their job (again), and those that were written while their
 * endpoint was being removed are ended. With `everything`, also the ones that are due only later: after a loss of Redis.
 */
export const sweepDeliveries =
  ({ due, endRemoved, enqueue, now }: SweepDeliveriesDeps) =>
  async ({ everything }: { everything: boolean }): Promise<SweptDeliveries> => {
    const swept: SweptDeliveries = { deliveries: 0, removed: await endRemoved(now()) };
    const before = everything ? EVER : new Date(now().getTime() - GRACE_MS);
    let after: DueCursor | null = null;
    for (;;) {
      const slice: DueDelivery[] = await due(before, after, SLICE);
      if (slice.length > 0) await enqueue(slice);
      swept.deliveries += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return swept;
      after = { dueAt: last.dueAt, id: last.id };
    }
  };
