import type { DueCursor, DueDelivery, OverdueDelivery } from './delivery.js';

export type SweepDeliveriesDeps = {
  /** Pending deliveries due before a moment that are not held, oldest first, a slice at a time. */
  due: (before: Date, after: DueCursor | null, limit: number) => Promise<OverdueDelivery[]>;
  /** Holds deliveries while their account is disabled; returns how many of them there were to hold. */
  hold: (deliveryIds: string[]) => Promise<number>;
  /** Ends the hold of deliveries whose account is enabled: at most `limit` of each account, those due first before others. */
  resume: (limit: number) => Promise<DueDelivery[]>;
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
/** Deliveries of one account that a sweep resumes: about what its share of the workers makes until the next sweep. */
const RESUMED_AT_ONCE = 500;

/** What a sweep found and did. */
export type SweptDeliveries = { deliveries: number; removed: number; held: number; resumed: number };

/**
 * The safety net under deliveries: those that are overdue get their job (again), and those that were written while their
 * endpoint was being removed are ended. With `everything`, also the ones that are due only later: after a loss of Redis.
 *
 * Deliveries of a disabled account get no job: they are marked as held, which takes them out of what is due, so that ten
 * thousand of them cost later sweeps nothing. Once the account is enabled each sweep resumes a part of them.
 */
export const sweepDeliveries =
  ({ due, hold, resume, endRemoved, enqueue, now }: SweepDeliveriesDeps) =>
  async ({ everything }: { everything: boolean }): Promise<SweptDeliveries> => {
    const swept: SweptDeliveries = { deliveries: 0, removed: await endRemoved(now()), held: 0, resumed: 0 };
    const resumed = await resume(RESUMED_AT_ONCE);
    if (resumed.length > 0) await enqueue(resumed);
    swept.resumed = resumed.length;

    const before = everything ? EVER : new Date(now().getTime() - GRACE_MS);
    let after: DueCursor | null = null;
    for (;;) {
      const slice: OverdueDelivery[] = await due(before, after, SLICE);
      const toHold = slice.filter(({ accountDisabled }) => accountDisabled);
      const toSend = slice.filter(({ accountDisabled }) => !accountDisabled);
      if (toHold.length > 0) swept.held += await hold(toHold.map(({ id }) => id));
      if (toSend.length > 0) await enqueue(toSend);
      swept.deliveries += toSend.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return swept;
      after = { dueAt: last.dueAt, id: last.id };
    }
  };
