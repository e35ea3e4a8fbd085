import type { StoredCheck, RequestSubscription as Subscription } from '@vat/domain';

/** How often Postgres is read for all waiting calls of the process, since a notification may be lost. */
const POLL_INTERVAL_MS = 1_000;

/** Notifications that arrived before a call waited for them. Those of calls that have ended are never removed one by one. */
const MAX_EARLY_NOTIFICATIONS = 10_000;

export type RequestNotifier = {
  subscribe: (requestId: string) => Subscription;
  /** Wakes the calls that wait for this request: a worker has changed it. `check`: the one it ended with, if it is known. */
  notify: (requestId: string, check?: StoredCheck) => void;
  close: () => void;
};

type RequestNotifierDeps = {
  /** Of the requests with these ids, those that no longer wait for an answer. */
  findMoved: (ids: string[]) => Promise<string[]>;
  onPollFailure: (error: unknown) => void;
  stopping: AbortSignal;
  /** The clock of the deadlines. */
  now: () => Date;
  /** Milliseconds between two polls; one second by default. */
  pollIntervalMs?: number;
};

/**
 * Wakes the calls of this process that wait for a request: when a notification about it arrives, when the poll finds that it
 * has moved (notifications are lost while Redis is away), at the deadline of the call, and when the process stops. One poll
 * reads the requests of all waiting calls; one that fails wakes nobody, since the next one follows. Two calls may wait for the
 * same request: the first one, and a repeat of it whose Idempotency-Key is no longer locked.
 */
export const requestNotifier = ({
  findMoved,
  onPollFailure,
  stopping,
  now,
  pollIntervalMs = POLL_INTERVAL_MS,
}: RequestNotifierDeps): RequestNotifier => {
  const waiting = new Map<string, Set<(check?: StoredCheck) => void>>();
  /** Without their checks, which would take memory. */
  const early = new Set<string>();
  const wake = (requestId: string, check?: StoredCheck) => {
    const signals = waiting.get(requestId);
    if (signals) for (const signal of [...signals]) signal(check);
    return signals !== undefined;
  };
  const wakeAll = () => {
    for (const requestId of [...waiting.keys()]) wake(requestId);
  };

  let isPolling = false;
  const poll = async () => {
    if (isPolling || waiting.size === 0) return;
    isPolling = true;
    try {
      for (const requestId of await findMoved([...waiting.keys()])) wake(requestId);
    } catch (error) {
      onPollFailure(error);
    } finally {
      isPolling = false;
    }
  };
  const timer = setInterval(() => void poll(), pollIntervalMs);
  stopping.addEventListener('abort', wakeAll);

  const subscribe = (requestId: string): Subscription => {
    let signalOwn: () => void = () => undefined;
    return {
      next: (until) =>
        new Promise((resolve) => {
          // A notification that arrived after the row was read and before this call waits must not be missed.
          if (early.delete(requestId) || stopping.aborted) return resolve(null);
          const signals = waiting.get(requestId) ?? new Set();
          const signal = (check?: StoredCheck) => {
            clearTimeout(end);
            // Only once: after that, `waiting` may hold a new set for this request.
            if (!signals.delete(signal)) return;
            if (signals.size === 0) waiting.delete(requestId);
            resolve(check ?? null);
          };
          const end = setTimeout(signal, Math.max(0, until.getTime() - now().getTime()));
          waiting.set(requestId, signals.add(signal));
          signalOwn = signal;
        }),
      close: () => {
        signalOwn();
        early.delete(requestId);
      },
    };
  };

  return {
    subscribe,
    notify: (requestId, check) => {
      if (!wake(requestId, check)) early.add(requestId);
      if (early.size > MAX_EARLY_NOTIFICATIONS) early.clear();
    },
    close: () => {
      clearInterval(timer);
      wakeAll();
    },
  };
};
