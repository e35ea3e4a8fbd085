import type { DueDelivery } from '../delivery/delivery.js';
import type { DispatchQueue } from './batch.js';
import { DISPATCH_QUEUES } from './feed.js';

export type SweepBatchesDeps = {
  /**
   * Ends requests of batches past their end or of a disabled account, with their lines; returns how many, 0 when none is
   * left.
   */
  endLost: (now: Date, limit: number) => Promise<number>;
  /** Completes every batch that has no line left. */
  complete: (now: Date) => Promise<{ accountId: string; deliveryId: string | null }[]>;
  /** Those of `lanes` in which lines wait and there is room in the window. */
  queuesToDispatch: (lanes: readonly DispatchQueue[]) => Promise<DispatchQueue[]>;
  feed: (lanes: DispatchQueue[]) => Promise<void>;
  /** Sends batch.completed; if it fails, the sweep of deliveries finds it. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

const SLICE = 500;

/** What a sweep found and did. */
export type SweptBatches = { lost_lines: number; batches: number; lanes: number };

/** The safety net under batches: what a crash or a loss of Redis left is ended, completed and fed. Harmless however often it runs. */
export const sweepBatches =
  ({ endLost, complete, queuesToDispatch, feed, enqueueDelivery, now }: SweepBatchesDeps) =>
  async (): Promise<SweptBatches> => {
    const swept: SweptBatches = { lost_lines: 0, batches: 0, lanes: 0 };
    const at = now();
    // Lines share requests, so a slice that ends few of them is not the last.
    for (let n = 1; n > 0; swept.lost_lines += n) n = await endLost(at, SLICE);

    for (const { accountId, deliveryId } of await complete(at)) {
      swept.batches += 1;
      if (deliveryId !== null)
        await enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: at }).catch(() => undefined);
    }

    const lanes = await queuesToDispatch(DISPATCH_QUEUES);
    if (lanes.length > 0) await feed(lanes);
    swept.lanes = lanes.length;
    return swept;
  };
