import type { DueDelivery } from '../delivery/delivery.js';
import { checkFailedBody } from '../delivery/event-bodies.js';
import { newUuid } from '../ids.js';
import type { EndedRequest, EndRequest, OverdueCursor, OverdueRequest } from './ports.js';
import { CHECK_DEADLINE_MS, TEST_POLICY } from './request.js';

export type SweepDeps = {
  overdue: (before: Date, after: OverdueCursor | null, limit: number) => Promise<OverdueRequest[]>;
  toAbandon: (now: Date, limit: number) => Promise<EndedRequest[]>;
  endRequest: EndRequest;
  releaseOrphans: (createdBefore: Date, now: Date, giveUpAt: { live: Date; test: Date }) => Promise<number>;
  /** Gives each request its job; a job that is still there is left alone. */
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  /** Sends what was told of a request that ended; if it fails, the sweep of deliveries finds it. */
  enqueueDelivery: (delivery: DueDelivery) => Promise<void>;
  /** Told of each request that was abandoned. */
  onEnded?: (request: EndedRequest) => void;
  /** Told of each request that could not be ended; the next sweep tries again. */
  onNotEnded?: (request: EndedRequest, error: unknown) => void;
  giveUpAfterMs: number;
  /** UPSTREAM_WINDOW: callers may wait for all of it, however long it is set. */
  windowMs: number;
  now: () => Date;
};

/** A job that is this late is taken to be lost; adding one that is not changes nothing. */
const GRACE_MS = 5_000;
/** Callers wait for at most CHECK_DEADLINE or their window; a request that waits this much longer has lost its caller. */
const ORPHAN_GRACE_MS = 7_000;
const SLICE = 500;
/** So many requests that cannot be ended are no fault of theirs. */
const MAX_UNFINISHED = 10;

/** What a sweep found and did. */
export type Swept = { enqueued: number; abandoned: number; not_ended: number; orphans: number };

/**
 * The safety net under "rows before jobs": live requests without a job get one, requests past their end or of a disabled
 * account are abandoned, orphans released. With `everything`, also requests that are due only later get their job back:
 * after a loss of Redis. Harmless however often it runs.
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

    const abandon = async (request: EndedRequest): Promise<void> => {
      const body = checkFailedBody(request, request.reason, request.lastError);
      const event = { id: newUuid(), type: 'check.failed' as const, body };
      const { id: requestId, accountId, reason } = request;
      const ended = await endRequest({ requestId, reason, event, deliveryId: newUuid(), now: at });
      if (ended) onEnded?.(request);
      if (ended?.deliveryId)
        await enqueueDelivery({ id: ended.deliveryId, accountId, attempt: 1, dueAt: at }).catch(() => undefined);
    };
    // One row that cannot be ended must not keep the net from all the others.
    const bad = new Set<string>();
    for (;;) {
      const slice = (await toAbandon(at, SLICE + bad.size)).filter(({ id }) => !bad.has(id));
      if (slice.length === 0) break;
      for (const request of slice) {
        try {
          await abandon(request);
          swept.abandoned += 1;
        } catch (error) {
          bad.add(request.id);
          swept.not_ended += 1;
          onNotEnded?.(request, error);
          if (bad.size > MAX_UNFINISHED) throw error;
        }
      }
    }

    const orphanedBefore = new Date(at.getTime() - Math.max(CHECK_DEADLINE_MS, windowMs) - ORPHAN_GRACE_MS);
    const giveUpAt = {
      live: new Date(at.getTime() + giveUpAfterMs),
      test: new Date(at.getTime() + TEST_POLICY.giveUpAfterMs),
    };
    for (let n = SLICE; n === SLICE; swept.orphans += n) {
      n = await releaseOrphans(orphanedBefore, at, giveUpAt);
    }

    const before = new Date(everything ? at.getTime() + giveUpAfterMs * 2 : at.getTime() - GRACE_MS);
    let after: OverdueCursor | null = null;
    for (;;) {
      const slice: OverdueRequest[] = await overdue(before, after, SLICE);
      if (slice.length > 0) await enqueue(slice);
      swept.enqueued += slice.length;
      const last = slice.at(-1);
      if (!last || slice.length < SLICE) return swept;
      after = { dueAt: last.dueAt, id: last.id };
    }
  };
