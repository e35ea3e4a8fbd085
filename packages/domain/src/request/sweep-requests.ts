import type { DueDelivery } from '../delivery/delivery.js';
import { abandonRequest } from './abandon-request.js';
import type { EndedRequest, EndRequest, OverdueCursor, OverdueRequest } from './ports.js';
import { CHECK_DEADLINE_MS, TEST_POLICY } from './request.js';

type SweepDeps = {
  overdue: (before: Date, after: OverdueCursor | null, limit: number) => Promise<OverdueRequest[]>;
  toAbandon: (now: Date, limit: number) => Promise<EndedRequest[]>;
  endRequest: EndRequest;
  releaseOrphans: (createdBefore: Date, now: Date, giveUpAt: { live: Date; test: Date }) => Promise<number>;
  /** Enqueues the job of each request; an existing job is not changed. */
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  /** Enqueues the delivery of check.failed. A failure is harmless: the sweep of deliveries finds the row. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Called for each request that was abandoned. */
  onEnded?: (request: EndedRequest) => void;
  /** Called for each request that could not be ended; the next sweep retries. */
  onNotEnded?: (request: EndedRequest, error: unknown) => void;
  giveUpAfterMs: number;
  /** UPSTREAM_WINDOW: callers may wait for all of it. */
  windowMs: number;
  now: () => Date;
};

/** A job that is this late is assumed lost. Enqueueing one that exists changes nothing. */
const GRACE_MS = 5_000;
/** Callers wait for at most CHECK_DEADLINE_MS or their window; a request that waits this much longer has lost its caller. */
const ORPHAN_GRACE_MS = 7_000;
const CHUNK = 500;
/** With more requests that cannot be ended, the fault is not in the requests, and the sweep fails. */
const MAX_UNFINISHED = 10;

/** What a sweep found and did. */
export type Swept = { enqueued: number; abandoned: number; not_ended: number; orphans: number };

/**
 * Restores what a crash or a loss of Redis left behind: live requests without a job get one, requests past their end or of a
 * disabled account are abandoned, requests that lost their caller are released. With `everything`, after a loss of Redis,
 * requests that are due later get their job as well. Idempotent.
 */
export const sweepRequests =
  ({
    overdue,
    toAbandon,
    endRequest,
    releaseOrphans,
    enqueue,
    enqueueDelivery,
    onEnded,
    onNotEnded,
    giveUpAfterMs,
    windowMs,
    now,
  }: SweepDeps) =>
  async ({ everything }: { everything: boolean }): Promise<Swept> => {
    const at = now();
    const swept: Swept = { enqueued: 0, abandoned: 0, not_ended: 0, orphans: 0 };

    const abandon = abandonRequest<EndedRequest>({
      endRequest,
      onEnded: (request) => onEnded?.(request),
      enqueueDelivery,
    });
    // One row that cannot be ended must not block the others.
    const failed = new Set<string>();
    for (;;) {
      const chunk = (await toAbandon(at, CHUNK + failed.size)).filter(({ id }) => !failed.has(id));
      if (chunk.length === 0) break;
      for (const request of chunk) {
        try {
          await abandon(request, at);
          swept.abandoned += 1;
        } catch (error) {
          failed.add(request.id);
          swept.not_ended += 1;
          onNotEnded?.(request, error);
          if (failed.size > MAX_UNFINISHED) throw error;
        }
      }
    }

    const orphanedBefore = new Date(at.getTime() - Math.max(CHECK_DEADLINE_MS, windowMs) - ORPHAN_GRACE_MS);
    const giveUpAt = {
      live: new Date(at.getTime() + giveUpAfterMs),
      test: new Date(at.getTime() + TEST_POLICY.giveUpAfterMs),
    };
    for (let n = CHUNK; n === CHUNK; swept.orphans += n) {
      n = await releaseOrphans(orphanedBefore, at, giveUpAt);
    }

    const before = new Date(everything ? at.getTime() + giveUpAfterMs * 2 : at.getTime() - GRACE_MS);
    let after: OverdueCursor | null = null;
    for (;;) {
      const chunk: OverdueRequest[] = await overdue(before, after, CHUNK);
      if (chunk.length > 0) await enqueue(chunk);
      swept.enqueued += chunk.length;
      const last = chunk.at(-1);
      if (!last || chunk.length < CHUNK) return swept;
      after = { dueAt: last.dueAt, id: last.id };
    }
  };
