import type { DueDelivery } from '../delivery/delivery.js';
import { publicId } from '../ids.js';
import type { MemberState } from '../member-states.js';
import type { PublishChange } from '../page-update.js';
import type { BatchStep } from '../request/ports.js';
import type { DispatchQueue } from './batch.js';

/** A batch that was just completed. `deliveryId`: of batch.completed; null where the account has no endpoint. */
type CompletedBatchRow = {
  id: string;
  accountId: string;
  deliveryId: string | null;
  done: number;
  failed: number;
};

type BatchProgressDeps = {
  complete: (batchIds: string[], now: Date) => Promise<CompletedBatchRow[]>;
  /** Those of `queues` in which lines wait and whose window has room. */
  queuesToDispatch: (queues: DispatchQueue[]) => Promise<DispatchQueue[]>;
  dispatch: (queues: DispatchQueue[]) => Promise<void>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  publishChange: PublishChange;
  onCompleted: (batch: CompletedBatchRow) => void;
  /** The sweep repeats the work of a failed pass. */
  onError: (error: unknown) => void;
  pause: (ms: number) => Promise<void>;
  now: () => Date;
};

export type BatchProgress = {
  /** Notes a step after its transaction is committed. Returns at once. */
  advanced: (step: BatchStep) => void;
  /** Resolves when every noted step is processed. */
  drain: () => Promise<void>;
};

/** Pause between two passes. Under load one pass serves many steps; a single step is processed at once. */
const PASS_INTERVAL_MS = 25;

/**
 * Processes steps of batches: completes the batches that have no line left, and refills the windows that run low. The last
 * lines of a batch may end at the same moment in two transactions that do not see each other's changes, so a pass runs
 * after the commit: the later one sees all lines.
 */
export const createBatchProgress = (deps: BatchProgressDeps): BatchProgress => {
  const batches = new Set<string>();
  const memberStates = new Set<MemberState>();
  let running: Promise<void> | null = null;

  const takeAll = <T>(set: Set<T>): T[] => {
    const all = [...set];
    set.clear();
    return all;
  };
  const completeNoted = async (): Promise<void> => {
    const ids = takeAll(batches);
    if (ids.length === 0) return;
    const now = deps.now();
    for (const batch of await deps.complete(ids, now)) {
      const { id, accountId, deliveryId } = batch;
      deps.onCompleted(batch);
      deps.publishChange(accountId, 'batches', publicId('batch', id));
      if (deliveryId !== null) await deps.enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: now });
    }
  };
  const dispatchNoted = async (): Promise<void> => {
    const queues = await deps.queuesToDispatch(takeAll(memberStates));
    if (queues.length > 0) await deps.dispatch(queues);
  };
  const run = async (): Promise<void> => {
    while (batches.size > 0 || memberStates.size > 0) {
      await Promise.all([dispatchNoted().catch(deps.onError), completeNoted().catch(deps.onError)]);
      await deps.pause(PASS_INTERVAL_MS);
    }
    running = null;
  };

  return {
    advanced: ({ memberState, batchId }) => {
      memberStates.add(memberState);
      if (batchId !== null) batches.add(batchId);
      running ??= run();
    },
    drain: async () => {
      while (running !== null) await running;
    },
  };
};
