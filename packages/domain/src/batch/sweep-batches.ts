import type { DueDelivery } from '../delivery/delivery.js';
import type { DispatchQueue } from './batch.js';
import { DISPATCH_QUEUES } from './dispatch-lines.js';

type SweepBatchesDeps = {
  /**
   * Ends requests of batches past their end or of a disabled account, with their lines. Returns how many, 0 when none is left,
   * and how many of them were never looked up.
   */
  endLost: (now: Date, limit: number) => Promise<{ ended: number; neverAsked: number }>;
  /** Called with the number of requests that ended without a lookup, which an operator must learn. */
  onNeverAsked: (count: number) => void;
  /** Completes every batch that has no line left. */
  complete: (now: Date) => Promise<{ accountId: string; deliveryId: string | null }[]>;
  /** Those of `queues` in which lines wait and whose window has room. */
  queuesToDispatch: (queues: readonly DispatchQueue[]) => Promise<DispatchQueue[]>;
  dispatch: (queues: DispatchQueue[]) => Promise<void>;
  /** Enqueues batch.completed. A failure is harmless: the sweep of deliveries finds the row. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  now: () => Date;
};

const CHUNK = 500;

/** What a sweep found and did. */
type SweptBatches = { lost_lines: number; batches: number; lanes: number };

/** Ends, completes and dispatches what a crash or a loss of Redis left behind in batches. Idempotent. */
export const sweepBatches =
  ({ endLost, onNeverAsked, complete, queuesToDispatch, dispatch, enqueueDelivery, now }: SweepBatchesDeps) =>
  async (): Promise<SweptBatches> => {
    const swept: SweptBatches = { lost_lines: 0, batches: 0, lanes: 0 };
    const at = now();
    // Lines share requests, so a chunk that ends few of them is not the last.
    for (let n = 1; n > 0; swept.lost_lines += n) {
      const { ended, neverAsked } = await endLost(at, CHUNK);
      if (neverAsked > 0) onNeverAsked(neverAsked);
      n = ended;
    }

    for (const { accountId, deliveryId } of await complete(at)) {
      swept.batches += 1;
      if (deliveryId !== null)
        await enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: at }).catch(() => undefined);
    }

    const queues = await queuesToDispatch(DISPATCH_QUEUES);
    if (queues.length > 0) await dispatch(queues);
    swept.lanes = queues.length;
    return swept;
  };
