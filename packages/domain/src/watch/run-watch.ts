import { createHash } from 'node:crypto';
import { monthlyQuota, periodOf } from '../account/account.js';
import { newUuidAt } from '../ids.js';
import type { PublishChange } from '../page-update.js';
import { neverAskedAt } from '../request/give-up.js';
import type { OverdueRequest } from '../request/ports.js';
import { openingEntry } from '../request/request-check.js';
import { readVatNumber } from '../vat-number/index.js';
import type { DueWatch, RunStart, RunToStart, StartRun, Watch, WatchFrequency } from './watch.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Minimum time between two runs. Half a day less than the interval, so that a late run does not shift the next one. */
export const LEAST_INTERVAL_MS: Readonly<Record<WatchFrequency, number>> = {
  daily: 12 * HOUR_MS,
  weekly: 6.5 * DAY_MS,
};

/**
 * The time of the (UTC) day at which a watch is due, in milliseconds. Derived from a hash of its id, because ids of one
 * import are alike: due watches are spread evenly over the day.
 */
export const momentOfDay = (watchId: string): number =>
  Number(createHash('sha256').update(watchId).digest().readBigUInt64BE() % BigInt(DAY_MS));

/**
 * When a watch is due after a run that began at `after`: at its own time of the day, at least the minimum interval later and
 * not before `notBefore`. Less than a day after the later of the two.
 */
export const nextCheckAt = (watchId: string, frequency: WatchFrequency, after: Date, notBefore: Date = after): Date => {
  const earliest = Math.max(after.getTime() + LEAST_INTERVAL_MS[frequency], notBefore.getTime());
  const wait = (momentOfDay(watchId) - (earliest % DAY_MS) + DAY_MS) % DAY_MS;
  return new Date(earliest + wait);
};

/**
 * When a watch is due whose run ended at `now` without an answer: at its own time of the day within the next 24 hours, for which
 * whole days are taken from `next`, the time at which it would have been due after an answer.
 */
export const nextAfterMiss = (next: Date, now: Date): Date => {
  const days = Math.floor(Math.max(0, next.getTime() - now.getTime()) / DAY_MS);
  return new Date(next.getTime() - days * DAY_MS);
};

/** The next time of a watch's own time of the day after `after`: at most 24 hours later. */
const nextMomentOfDay = (watchId: string, after: Date): Date => {
  const wait = (momentOfDay(watchId) - (after.getTime() % DAY_MS) + DAY_MS) % DAY_MS;
  return new Date(after.getTime() + (wait || DAY_MS));
};

/**
 * The run of a due watch. A run that must be skipped (quota spent, account disabled) is postponed to the watch's next time of
 * the day, also at weekly frequency: a week later the month may be over.
 */
const planRun = (watch: DueWatch, now: Date): RunToStart => {
  const read = readVatNumber(watch.vatNumber);
  const checksumFailed = read.kind === 'well_formed' && read.checksum === 'failed';
  return {
    watchId: watch.id,
    frequency: watch.frequency,
    requestId: newUuidAt(now),
    entries: [openingEntry({ malformed: null, checksumFailed }, now)],
    now,
    giveUpAt: neverAskedAt(now),
    quota: { period: periodOf(now), limit: monthlyQuota(watch) },
    nextCheckAt: nextCheckAt(watch.id, watch.frequency, now),
    retryAt: nextMomentOfDay(watch.id, now),
    asIfDue: false,
  };
};

/** The request of a run that was just started, for its job: pending, unanswered, due at `dueAt`. */
const lookupJobOf = (id: string, { memberState, accountId }: DueWatch, dueAt: Date): OverdueRequest => ({
  id,
  accountId,
  test: false,
  origin: 'watch',
  memberState,
  pending: true,
  answered: false,
  dueAt,
});

export type RunWatchDeps = {
  /** Reads a watch; if a run is under way, makes it due so that another run follows. `null` when there is none. */
  findOrFollow: (watchId: string, now: Date) => Promise<(DueWatch & Pick<Watch, 'state' | 'requestId'>) | null>;
  startRun: StartRun;
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  now: () => Date;
};

/** `running`: a run is under way, and another one follows it. `requestId`: of the run; null when there is none. */
type WatchRun = { requestId: string | null; status: RunStart | 'running' | 'paused' };

/** Attempts, since a run may have begun or ended after the watch was read. */
const TRIES = 5;

/** Starts one watch's run as if it were due now; `null` when there is no such watch. */
export const runWatch =
  ({ findOrFollow, startRun, enqueue, now }: RunWatchDeps) =>
  async (watchId: string): Promise<WatchRun | null> => {
    for (let tries = 1; ; tries += 1) {
      const watch = await findOrFollow(watchId, now());
      if (!watch) return null;
      if (watch.requestId !== null) return { requestId: watch.requestId, status: 'running' };
      if (watch.state === 'paused') return { requestId: null, status: 'paused' };
      const run = planRun(watch, now());
      const outcome = await startRun({ ...run, asIfDue: true });
      if (outcome === 'not_due' && tries < TRIES) continue;
      if (outcome !== 'started') return { requestId: null, status: outcome };
      await enqueue([lookupJobOf(run.requestId, watch, run.now)]);
      return { requestId: run.requestId, status: 'started' };
    }
  };

type StartDueWatchesDeps = {
  /** Due watches, the longest due first. At most as many a member state as the limits leave, runs under way included. */
  findDue: (now: Date, limits: RunLimits) => Promise<DueWatch[]>;
  startRun: StartRun;
  /** Enqueues the lookups of requests. A failure is harmless: the sweep finds the rows. */
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  onEnqueueFailure: (error: unknown) => void;
  /** Called for every run that began or was postponed: the watch is due at another time. */
  publishChange: PublishChange;
  stopping: AbortSignal;
  now: () => Date;
};

/** How many runs of one member state may be under way at once: those whose lookup is due now, and all. */
export type RunLimits = { waiting: number; underWay: number };

/**
 * The others stay due. This bounds Redis, and an outage does not turn every watch of a member state into a pending request.
 * Runs between two lookups do not count as waiting: where a member state refuses every second lookup they are the most, and
 * would leave its slots unused.
 */
export const RUN_LIMITS: RunLimits = { waiting: 64, underWay: 1_000 };

/** Concurrent statements: enough to use a connection fully, few compared with those of callers. */
const MAX_CONCURRENT_STARTS = 4;

/** How many runs began, and how many were postponed. */
type StartedWatches = Record<Exclude<RunStart, 'not_due'>, number>;

/** Starts the runs of due watches as far as there is room for them. Idempotent. */
export const startDueWatches = (deps: StartDueWatchesDeps) => {
  const startAll = async (due: DueWatch[], started: StartedWatches): Promise<OverdueRequest[]> => {
    const requests: OverdueRequest[] = [];
    const waiting = [...due];
    const startNext = async (): Promise<void> => {
      for (let watch = waiting.shift(); watch && !deps.stopping.aborted; watch = waiting.shift()) {
        const run = planRun(watch, deps.now());
        const outcome = await deps.startRun(run);
        if (outcome === 'not_due') continue;
        started[outcome] += 1;
        deps.publishChange(watch.accountId, 'watches');
        if (outcome === 'started') requests.push(lookupJobOf(run.requestId, watch, run.now));
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_STARTS }, startNext));
    return requests;
  };

  return async (): Promise<StartedWatches> => {
    const started: StartedWatches = { started: 0, quota_exceeded: 0, account_disabled: 0 };
    while (!deps.stopping.aborted) {
      const due = await deps.findDue(deps.now(), RUN_LIMITS);
      const skipped = started.quota_exceeded + started.account_disabled;
      const requests = await startAll(due, started);
      if (requests.length > 0) await deps.enqueue(requests).catch(deps.onEnqueueFailure);
      // Postponed runs leave room for others.
      if (started.quota_exceeded + started.account_disabled === skipped) break;
    }
    return started;
  };
};
