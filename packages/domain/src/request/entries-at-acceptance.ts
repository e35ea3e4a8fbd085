import type { CheckEntry } from '../check/entry.js';
import { recordAsk } from '../check/record-ask.js';
import type { UpstreamPolicy } from './policy.js';
import type { CheckRequest } from './request.js';

type Waiting = Pick<CheckRequest, 'entries' | 'createdAt' | 'askingSince' | 'unconfirmed' | 'dueAt'>;

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
  if (request.askingSince !== null) {
    const waited = request.askingSince.getTime() - request.dueAt.getTime();
    return recordAsk(request.entries, {
      source,
      outcome: 'timeout',
      code: null,
      startedAt: request.askingSince,
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
  const waiting = recordAsk(request.entries, {
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
