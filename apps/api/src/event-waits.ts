import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type EventWait, type FollowEventsDeps, type PageUpdate } from '@vat/domain';
import type { PageUpdateSubscription } from '@vat/queues';

/** How often Postgres is read for all waiting calls of the process, since a page update may be lost. */
const POLL_INTERVAL_MS = 1_000;
/** The shortest time between two reads, however many page updates arrive. */
const READ_INTERVAL_MS = 200;
/** Of a refusal, in seconds. */
const RETRY_AFTER_S = 1;

export type EventWaits = { awaitNewer: FollowEventsDeps['awaitNewer']; close: () => void };

type EventWaitsDeps = {
  /** The page updates of accounts: each event is written together with something that they name. */
  subscribe: (onUpdates: (accountId: string, updates: PageUpdate[]) => void) => PageUpdateSubscription;
  findNewestPositions: (accountIds: readonly string[]) => Promise<{ accountId: string; position: string }[]>;
  onReadFailure: (error: unknown) => void;
  stopping: AbortSignal;
  /**
   * Calls that may wait at the same time. `perMode`: of an account with live keys, and as many with test keys: a sandbox that
   * leaves calls behind must not keep the account from following its events.
   */
  limits: { perMode: number; perProcess: number };
  now: () => Date;
  /** Milliseconds; for tests. */
  pollIntervalMs?: number;
};

type Waiting = { testOnly: boolean; newest: string; end: (newest: string | null) => void };

/**
 * The calls of this process that wait for an event of their account. A page update of the account causes a read of its newest
 * position, and a poll once a second reads those of all waiting calls; one statement reads them for many accounts. A call ends
 * when the position is another one, at its deadline, when its client disconnects, and when the process stops. A read that
 * fails ends none, since the next one follows.
 */
export const eventWaits = ({
  subscribe,
  findNewestPositions,
  onReadFailure,
  stopping,
  limits,
  now,
  pollIntervalMs = POLL_INTERVAL_MS,
}: EventWaitsDeps): EventWaits => {
  const waiting = new Map<string, Set<Waiting>>();
  const all = new Set<Waiting>();
  /** Accounts to read. */
  const changed = new Set<string>();

  const read = async (accountIds: readonly string[]): Promise<void> => {
    try {
      for (const { accountId, position } of await findNewestPositions(accountIds))
        for (const call of [...(waiting.get(accountId) ?? [])]) if (call.newest !== position) call.end(position);
    } catch (error) {
      onReadFailure(error);
    }
  };
  let isReading = false;
  const readChanged = async (): Promise<void> => {
    if (isReading) return;
    isReading = true;
    while (changed.size > 0) {
      const accountIds = [...changed].filter((accountId) => waiting.has(accountId));
      changed.clear();
      if (accountIds.length === 0) continue;
      await Promise.all([read(accountIds), pause(READ_INTERVAL_MS, undefined, { ref: false })]);
    }
    isReading = false;
  };
  const note = (accountId: string): void => {
    if (!waiting.has(accountId)) return;
    changed.add(accountId);
    void readChanged();
  };

  const subscription = subscribe(note);
  const timer = setInterval(() => {
    for (const accountId of waiting.keys()) changed.add(accountId);
    void readChanged();
  }, pollIntervalMs);
  const endAll = (): void => {
    for (const call of [...all]) call.end(null);
  };
  stopping.addEventListener('abort', endAll);

  const add = (
    { reader: { accountId, testOnly }, newest, until, cancelled }: EventWait,
    resolve: (newest: string | null) => void,
  ): void => {
    const ofAccount = waiting.get(accountId) ?? new Set();
    const ofMode = [...ofAccount].filter((call) => call.testOnly === testOnly).length;
    if (all.size >= limits.perProcess || ofMode >= limits.perMode)
      throw new AppError('RATE_LIMITED', {
        message: 'Too many calls wait for events at the same time.',
        extra: { retry_after: RETRY_AFTER_S },
      });
    const cancel = (): void => call.end(null);
    const deadline = setTimeout(cancel, until.getTime() - now().getTime());
    const call: Waiting = {
      testOnly,
      newest,
      end: (newer) => {
        if (!all.delete(call)) return;
        clearTimeout(deadline);
        cancelled.removeEventListener('abort', cancel);
        ofAccount.delete(call);
        if (ofAccount.size === 0) {
          waiting.delete(accountId);
          subscription.unfollow(accountId);
        }
        resolve(newer);
      },
    };
    all.add(call);
    cancelled.addEventListener('abort', cancel);
    waiting.set(accountId, ofAccount.add(call));
    const subscribed = ofAccount.size === 1 ? subscription.follow(accountId) : Promise.resolve();
    // What was published before the call waits, or before the subscription is active, was not received.
    void subscribed.then(() => note(accountId));
  };

  return {
    awaitNewer: (wait) =>
      new Promise((resolve) => {
        if (stopping.aborted || wait.cancelled.aborted || wait.until <= now()) resolve(null);
        else add(wait, resolve);
      }),
    close: () => {
      clearInterval(timer);
      changed.clear();
      endAll();
    },
  };
};
