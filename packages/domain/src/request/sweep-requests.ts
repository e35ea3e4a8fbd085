import type { DueDelivery } from '../delivery/delivery.js';
import { overdueBefore } from '../overdue.js';
import { readPages } from '../read-pages.js';
import { abandonRequest } from './abandon-request.js';
import { neverAskedAt } from './give-up.js';
import type {
  EndedRequest,
  EndRequest,
  OverdueCursor,
  OverdueGroup,
  OverduePage,
  OverdueRequest,
  ReleaseOrphans,
} from './ports.js';
import { CHECK_DEADLINE_MS, MAX_PENDING, TEST_POLICY } from './request.js';

/** Callers wait for at most CHECK_DEADLINE_MS or their window; a request that waits this much longer has lost its caller. */
const ORPHAN_GRACE_MS = 7_000;
/** Rows that end at once. */
const CHUNK = 500;
/** Rows that are compared with their jobs at once: some milliseconds of Postgres, of Redis and of this process each. */
const PAGE = 5_000;
/** With more requests that cannot be ended, the fault is not in the requests, and the sweep fails. */
const MAX_UNFINISHED = 10;
/** Concurrent statements: enough to use a connection fully, few compared with those of callers. */
const MAX_CONCURRENT_ENDS = 4;
/** After this time the rest is left to the next sweep, so that a long outage's requests do not delay the other steps. */
const MAX_MS = 5_000;

type EnqueueLostDeps = {
  /** The live requests due before a moment, oldest first, in pages of `limit`. */
  overdue: (before: Date, after: OverdueCursor | null, limit: number) => Promise<OverduePage>;
  /** The ids of those that have no job. */
  withoutJob: (groups: OverdueGroup[], scope: { everything: boolean }) => Promise<string[]>;
  /** Those of the requests that are still live. */
  findLive: (ids: string[]) => Promise<OverdueRequest[]>;
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  now: () => Date;
};

/**
 * Enqueues live requests whose job is missing: those that are overdue, or with `everything`, after a loss of Redis, those that
 * are due later as well. A request that has its job costs one index entry in Postgres and one read in Redis.
 */
export const enqueueLostRequests =
  ({ overdue, withoutJob, findLive, enqueue, now }: EnqueueLostDeps) =>
  async ({ everything }: { everything: boolean }): Promise<{ enqueued: number }> => {
    const before = overdueBefore(everything, now());
    let enqueued = 0;
    for await (const { groups } of readPages((after: OverdueCursor | null) => overdue(before, after, PAGE))) {
      const lost = await withoutJob(groups, { everything });
      if (lost.length === 0) continue;
      const requests = await findLive(lost);
      await enqueue(requests);
      enqueued += requests.length;
    }
    return { enqueued };
  };

type AbandonDeps = {
  /** Some pending requests past their end or of a disabled account, of batches none. */
  toAbandon: (now: Date, limit: number) => Promise<EndedRequest[]>;
  endRequest: EndRequest;
  /** Enqueues the delivery of check.failed. A failure is harmless: the sweep of deliveries finds the row. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Called for each request that was abandoned. */
  onEnded: (request: EndedRequest) => void;
  /** Called for each request that could not be ended; the next sweep retries. */
  onNotEnded: (request: EndedRequest, error: unknown) => void;
  now: () => Date;
};

/** Abandons requests past their end or of a disabled account. One that cannot be ended does not stop the others. Idempotent. */
export const endLateRequests =
  ({ toAbandon, endRequest, enqueueDelivery, onEnded, onNotEnded, now }: AbandonDeps) =>
  async (): Promise<{ abandoned: number; not_ended: number }> => {
    const at = now();
    let abandoned = 0;
    const abandon = abandonRequest<EndedRequest>({ endRequest, onEnded, enqueueDelivery });
    const failed = new Set<string>();
    const endNext = async (waiting: EndedRequest[]): Promise<void> => {
      for (let request = waiting.shift(); request; request = waiting.shift()) {
        try {
          await abandon(request, at);
          abandoned += 1;
        } catch (error) {
          failed.add(request.id);
          onNotEnded(request, error);
          if (failed.size > MAX_UNFINISHED) throw error;
        }
      }
    };
    while (now().getTime() - at.getTime() < MAX_MS) {
      const chunk = (await toAbandon(at, CHUNK + failed.size)).filter(({ id }) => !failed.has(id));
      if (chunk.length === 0) break;
      await Promise.all(Array.from({ length: MAX_CONCURRENT_ENDS }, () => endNext(chunk)));
    }
    return { abandoned, not_ended: failed.size };
  };

type ReleaseOrphansDeps = {
  releaseOrphans: ReleaseOrphans;
  /** UPSTREAM_WINDOW: callers may wait for all of it. */
  windowMs: number;
  now: () => Date;
};

/** Releases requests that lost their caller with its API process. Idempotent. */
export const releaseOrphanedRequests =
  ({ releaseOrphans, windowMs, now }: ReleaseOrphansDeps) =>
  async (): Promise<{ orphans: number }> => {
    const at = now();
    const createdBefore = new Date(at.getTime() - Math.max(CHECK_DEADLINE_MS, windowMs) - ORPHAN_GRACE_MS);
    const giveUpAt = {
      // Of those that were never looked up; the others have their time.
      live: neverAskedAt(at),
      test: new Date(at.getTime() + TEST_POLICY.giveUpAfterMs),
    };
    let orphans = 0;
    for (let n = 1; n > 0; orphans += n)
      n = await releaseOrphans({ createdBefore, now: at, giveUpAt, maxPending: MAX_PENDING });
    return { orphans };
  };
