import { readableEntries, type StoredCheck } from '../check/check.js';
import { type CheckEntry, recordLookup } from '../check/entry.js';
import { AppError } from '../errors.js';
import { giveUpAtAcceptance } from './give-up.js';
import { lookupSourceOf } from './lookup.js';
import { windowEnd } from './plan-retry.js';
import type { AcceptRequest, FindRequest, RequestSubscription } from './ports.js';
import { CHECK_DEADLINE_MS, type CheckRequest, MAX_PENDING, type UpstreamPolicy } from './request.js';

type Waiting = Pick<CheckRequest, 'entries' | 'createdAt' | 'lookupStartedAt' | 'unconfirmed' | 'dueAt'>;

/**
 * The `checks` of a 202 answer: the entries so far, with the lookup that is still open or the wait for one that never began.
 * Nothing of this is stored; the open lookup stores its own end later.
 */
const entriesAtAcceptance = (
  request: Waiting,
  policy: Pick<UpstreamPolicy, 'backpressureAfterMs'>,
  now: Date,
): CheckEntry[] => {
  const source = lookupSourceOf(request);
  if (request.lookupStartedAt !== null) {
    const waited = request.lookupStartedAt.getTime() - request.dueAt.getTime();
    return recordLookup(request.entries, {
      source,
      outcome: 'timeout',
      code: null,
      startedAt: request.lookupStartedAt,
      endedAt: now,
      backpressure: waited > policy.backpressureAfterMs,
      detail: 'The upstream had not answered yet.',
    });
  }
  const waitedMs = now.getTime() - request.dueAt.getTime();
  if (waitedMs <= 0) return request.entries;
  if (request.entries.some((entry) => entry.source === source)) {
    if (waitedMs <= policy.backpressureAfterMs) return request.entries;
    return request.entries.map((entry) =>
      entry.source === source ? { ...entry, backpressure: true as const } : entry,
    );
  }
  const waiting = recordLookup(request.entries, {
    source,
    outcome: 'timeout',
    code: null,
    startedAt: request.dueAt,
    endedAt: now,
    backpressure: waitedMs > policy.backpressureAfterMs,
    // The reason is unknown here: no free slot, no worker or no Redis. `backpressure` marks a long wait.
    detail: 'The upstream had not been asked yet.',
  });
  return waiting.map((entry) => (entry.source === source ? { ...entry, attempts: 0 } : entry));
};

/** How a direct call ended: with its check (201), or as a request that continues in the background (202). */
export type CallEnd =
  | { kind: 'checked'; check: StoredCheck }
  | { kind: 'accepted'; request: CheckRequest & { acceptedAt: Date; giveUpAt: Date } };

export type AwaitEndDeps = {
  find: FindRequest;
  accept: AcceptRequest;
  now: () => Date;
  /** Aborts when the process stops: callers are then answered 202 at once. */
  stopping: AbortSignal;
};

/** Retry-After of a refused call in seconds: long enough for some pending requests to end. */
const PENDING_RETRY_AFTER_S = 30;

/** TOO_MANY_PENDING with the entries of the refused request so far. */
export const tooManyPending = (pending: number, checks: CheckRequest['entries']): AppError =>
  new AppError('TOO_MANY_PENDING', {
    extra: { retry_after: PENDING_RETRY_AFTER_S, pending, checks: readableEntries(checks) },
  });

/** Whether its caller was answered 202, which stays true after the request has ended. */
const isAccepted = (request: CheckRequest): request is CheckRequest & { acceptedAt: Date; giveUpAt: Date } =>
  request.acceptedAt !== null && request.giveUpAt !== null;

/** When to stop waiting for a request in its current state. */
const deadlineOf = (request: CheckRequest, policy: UpstreamPolicy): Date => {
  const cap = request.createdAt.getTime() + Math.max(CHECK_DEADLINE_MS, policy.windowMs);
  // The upstream has answered, and only enrichment and recording are left: waiting for the 201 is worth it.
  if (request.answer !== null) return new Date(cap);
  return new Date(Math.min(windowEnd(request, policy).getTime(), cap));
};

/**
 * Waits until a request has ended or its window is over. One conditional update decides the race between the end of the
 * window and the worker's answer: the loser reads what the winner wrote.
 * A request that was accepted is answered 202 again, also after it was abandoned: its end is read at the URL of the 202. Throws INVALID_REQUESTER, TOO_MANY_PENDING, and ACCOUNT_DISABLED where that ended the request.
 */
export const awaitEnd =
  ({ find, accept, now, stopping }: AwaitEndDeps) =>
  async (requestId: string, policy: UpstreamPolicy, subscription: RequestSubscription): Promise<CallEnd> => {
    for (;;) {
      const found = await find(requestId);
      if (!found) throw new Error('an admitted request does not exist');
      const { request, check } = found;
      if (check) return { kind: 'checked', check };
      if (request.reason === 'ACCOUNT_DISABLED') throw new AppError('ACCOUNT_DISABLED');
      if (isAccepted(request)) return { kind: 'accepted', request };
      if (request.reason === 'INVALID_REQUESTER')
        throw new AppError('INVALID_REQUESTER', { extra: { checks: readableEntries(request.entries) } });
      // Refused by another call that waits for the same request, or by this one before its connection to Postgres broke.
      if (request.reason === 'TOO_MANY_PENDING') throw tooManyPending(MAX_PENDING, request.entries);
      // Also completed without its check, which retention has deleted.
      if (request.state !== 'waiting' && request.state !== 'pending')
        throw new Error(`the request ended as ${request.state}`);

      const at = now();
      const deadline = deadlineOf(request, policy);
      if (at < deadline && !stopping.aborted && request.state === 'waiting') {
        const recorded = await subscription.next(deadline);
        if (recorded) return { kind: 'checked', check: recorded };
        continue;
      }
      const entries = entriesAtAcceptance(request, policy, at);
      const result = await accept({
        id: request.id,
        accountId: request.accountId,
        now: at,
        giveUpAt: giveUpAtAcceptance(request, policy, at),
        maxPending: MAX_PENDING,
        // At the deadline a known answer no longer holds the caller; it is recorded later.
        evenAnswered: request.answer !== null,
      });
      if (result.kind === 'too_many_pending') throw tooManyPending(result.pending, entries);
      if (result.kind === 'accepted') {
        const { giveUpAt } = result;
        return { kind: 'accepted', request: { ...request, state: 'pending', entries, acceptedAt: at, giveUpAt } };
      }
    }
  };
