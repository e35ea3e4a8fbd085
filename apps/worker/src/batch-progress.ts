import { setTimeout as pause } from 'node:timers/promises';
import type { CompletedNow } from '@vat/db';
import { type DispatchQueue, type DueDelivery, type MemberState, type PublishChange, publicId } from '@vat/domain';
import type { Logger } from '@vat/runtime';

/** A request of a batch left its place in the window. `batchId`: when its lines ended with it. */
export type BatchStep = { memberState: MemberState; batchId: string | null };

type BatchProgressDeps = {
  complete: (batchIds: string[], now: Date) => Promise<CompletedNow[]>;
  queuesToDispatch: (lanes: DispatchQueue[]) => Promise<DispatchQueue[]>;
  feed: (lanes: DispatchQueue[]) => Promise<void>;
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  publishChange: PublishChange;
  /** What is missed is found by the sweep. */
  onError: (error: unknown) => void;
  now: () => Date;
  log: Logger;
};

type BatchProgress = {
  /** Call it once the step is committed; it costs nothing at that moment. */
  advanced: (step: BatchStep) => void;
  /** Resolves when everything noted was looked at. */
  drain: () => Promise<void>;
};

/** Between two looks: under load one look serves many steps, and a step that comes alone waits for nothing. */
const APART_MS = 25;

/**
 * Looks after steps of batches: completes the batches that have no line left, and has windows filled that run low. The last
 * lines of a batch may end at the same moment in two transactions, neither of which sees the other's: so the look comes
 * after the commit, and then the later one sees them all.
 */
export const createBatchProgress = (deps: BatchProgressDeps): BatchProgress => {
  const { complete, queuesToDispatch, feed, enqueueDelivery, publishChange, onError, now, log } = deps;
  const batches = new Set<string>();
  const lanes = new Set<MemberState>();
  let looking: Promise<void> | null = null;

  const takeAll = <T>(set: Set<T>): T[] => {
    const all = [...set];
    set.clear();
    return all;
  };
  const completeSome = async (): Promise<void> => {
    const ids = takeAll(batches);
    if (ids.length === 0) return;
    const at = now();
    for (const { id, accountId, deliveryId, done, failed } of await complete(ids, at)) {
      log.info('A batch was completed.', { batch: id, done, failed });
      publishChange(accountId, 'batches', publicId('batch', id));
      if (deliveryId !== null) await enqueueDelivery({ id: deliveryId, accountId, attempt: 1, dueAt: at });
    }
  };
  const feedSome = async (): Promise<void> => {
    const low = await queuesToDispatch(takeAll(lanes));
    if (low.length > 0) await feed(low);
  };
  const look = async (): Promise<void> => {
    while (batches.size > 0 || lanes.size > 0) {
      await Promise.all([feedSome().catch(onError), completeSome().catch(onError)]);
      await pause(APART_MS);
    }
    looking = null;
  };

  return {
    advanced: ({ memberState, batchId }) => {
      lanes.add(memberState);
      if (batchId !== null) batches.add(batchId);
      looking ??= look();
    },
    drain: async () => {
      while (looking !== null) await looking;
    },
  };
};
