import { readableEntries, type StoredCheck } from '../check/check.js';
import { type CheckEntry, recordLookup } from '../check/entry.js';
import { AppError } from '../errors.js';
import { windowEnd } from './plan-retry.js';
import type { AcceptRequest, FindRequest, News } from './ports.js';
import { CHECK_DEADLINE_MS, type CheckRequest, MAX_PENDING, type UpstreamPolicy } from './request.js';

type Waiting = Pick<CheckRequest, 'entries' | 'createdAt' | 'lookupStartedAt' | 'unconfirmed' | 'dueAt'>;

/**
 * What a caller who is answered 202 reads in `checks`: the entries so far, with the ask that is still open, or the wait
 * for one that never began, told as what it is. Nothing of this is stored; the open ask tells its own end later.
 */
export const entriesAtAcceptance = (
  request: Waiting,
  policy: Pick<UpstreamPolicy, 'backpressureAfterMs'>,
  now: Date,
): CheckEntry[] => {
  const source = request.unconfirmed === null ? 'vies' : 'vies_confirmation';
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
    // Why is not known here: no slot came free, or no worker or no Redis was there. `backpressure` tells how long.
    detail: 'The upstream had not been asked yet.',
  });
  return waiting.map((entry) => (entry.source === source ? { ...entry, attempts: 0 } : entry));
};

/** How a direct call ended: with its check (201), or as a request that goes on in the background (202). */
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

/** What the caller of a refused call should wait: long enough for some pending requests to end. */
export const PENDING_RETRY_AFTER_S = 30;

const tooManyPending = (pending: number, checks: CheckRequest['entries']): AppError =>
  new AppError('TOO_MANY_PENDING', {
    extra: { retry_after: PENDING_RETRY_AFTER_S, pending, checks: readableEntries(checks) },
  });

/** Whether its caller was answered 202: a promise that stays what it was, whatever became of the request since. */
const isAccepted = (request: CheckRequest): request is CheckRequest & { acceptedAt: Date; giveUpAt: Date } =>
  request.acceptedAt !== null && request.giveUpAt !== null;

/** When to stop waiting, given what is known of the request now. */
const deadlineOf = (request: CheckRequest, policy: UpstreamPolicy): Date => {
  const cap = request.createdAt.getTime() + Math.max(CHECK_DEADLINE_MS, policy.windowMs);
  // The upstream has answered and only enrichment and recording run: a 201 is near, and worth more than a 202.
  if (request.answer !== null) return new Date(cap);
  return new Date(Math.min(windowEnd(request, policy).getTime(), cap));
};

/**
 * Waits until a request has ended or its window is over. The race between the window's end and the worker's answer is
 * settled by one conditional update: whoever comes second reads what the first one wrote.
 * A request that had been accepted is accepted again, also when it has been abandoned since: its end is read where the 202
 * says. Throws INVALID_REQUESTER, TOO_MANY_PENDING, and ACCOUNT_DISABLED where that ended the request.
 */
export const awaitEnd =
  ({ find, accept, now, stopping }: AwaitEndDeps) =>
  async (requestId: string, policy: UpstreamPolicy, news: News): Promise<CallEnd> => {
    for (;;) {
      const found = await find(requestId);
      if (!found) throw new Error('a request that was admitted is gone');
      const { request, check } = found;
      if (check) return { kind: 'checked', check };
      if (request.reason === 'ACCOUNT_DISABLED') throw new AppError('ACCOUNT_DISABLED');
      if (isAccepted(request)) return { kind: 'accepted', request };
      if (request.reason === 'INVALID_REQUESTER')
        throw new AppError('INVALID_REQUESTER', { extra: { checks: readableEntries(request.entries) } });
      if (request.state === 'withdrawn' || request.state === 'abandoned')
        throw new Error(`the request ended as ${request.state}`);

      const at = now();
      const deadline = deadlineOf(request, policy);
      if (at < deadline && !stopping.aborted && request.state === 'waiting') {
        await news.next(deadline);
        continue;
      }
      const entries = entriesAtAcceptance(request, policy, at);
      const result = await accept({
        id: request.id,
        accountId: request.accountId,
        now: at,
        giveUpAt: new Date(at.getTime() + policy.giveUpAfterMs),
        maxPending: MAX_PENDING,
        // At the cap even a known answer no longer holds the caller; it is recorded a little later.
        evenAnswered: request.answer !== null,
      });
      if (result.kind === 'too_many_pending') throw tooManyPending(result.pending, entries);
      if (result.kind === 'accepted') {
        const { giveUpAt } = result;
        return { kind: 'accepted', request: { ...request, state: 'pending', entries, acceptedAt: at, giveUpAt } };
      }
    }
  };
