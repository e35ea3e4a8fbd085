import { createHash } from 'node:crypto';
import { monthlyQuota, periodOf } from '../account/account.js';
import { newUuid } from '../ids.js';
import type { OverdueRequest } from '../request/ports.js';
import { openingEntry } from '../request/request-check.js';
import { readVatNumber } from '../vat-number/index.js';
import type { DueWatch, RunStart, RunToStart, StartRun, Watch, WatchFrequency } from './watch.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The least time between two runs. Half a day less than the interval: a run that began late does not shift the next one. */
export const LEAST_INTERVAL_MS: Readonly<Record<WatchFrequency, number>> = {
  daily: 12 * HOUR_MS,
  weekly: 6.5 * DAY_MS,
};

/**
 * A watch's own moment of the (UTC) day in milliseconds. Taken from a hash of its id, since ids made in one import are
 * alike: so the due watches are spread evenly over the day however they came in.
 */
export const momentOfDay = (watchId: string): number =>
  Number(createHash('sha256').update(watchId).digest().readBigUInt64BE() % BigInt(DAY_MS));

/**
 * When a watch is due after a run that began at `after`: at its own moment of the day, the interval's least time later at
 * the earliest, and not before `notBefore`. It comes less than a day after the later of the two.
 */
export const nextCheckAt = (watchId: string, frequency: WatchFrequency, after: Date, notBefore: Date = after): Date => {
  const earliest = Math.max(after.getTime() + LEAST_INTERVAL_MS[frequency], notBefore.getTime());
  const wait = (momentOfDay(watchId) - (earliest % DAY_MS) + DAY_MS) % DAY_MS;
  return new Date(earliest + wait);
};

/**
 * The run of a watch that is due. A run that must be skipped (quota spent, account disabled) is put off to the watch's
 * moment of the next day, a weekly one too: a week later the month may be over.
 */
export const planRun = (watch: DueWatch, giveUpAfterMs: number, now: Date): RunToStart => {
  const read = readVatNumber(watch.vatNumber);
  const checksumFailed = read.kind === 'well_formed' && read.checksum === 'failed';
  return {
    watchId: watch.id,
    requestId: newUuid(),
    entries: [openingEntry({ malformed: null, checksumFailed }, now)],
    now,
    giveUpAt: new Date(now.getTime() + giveUpAfterMs),
    quota: { period: periodOf(now), limit: monthlyQuota(watch) },
    nextCheckAt: nextCheckAt(watch.id, watch.frequency, now),
    retryAt: nextCheckAt(watch.id, 'daily', now),
    asIfDue: false,
  };
};

/** The request of a run that has just been started, as its job is made: pending, unanswered, due now. */
export const lookupJobOf = (
  id: string,
  { memberState }: Pick<DueWatch, 'memberState'>,
  dueAt: Date,
): OverdueRequest => ({
  id,
  test: false,
  origin: 'watch',
  memberState,
  pending: true,
  answered: false,
  dueAt,
});

export type RunWatchDeps = {
  /** A watch as it is; one whose run is under way is made due, so that another run follows. `null` when there is none. */
  findOrFollow: (watchId: string, now: Date) => Promise<(DueWatch & Pick<Watch, 'state' | 'requestId'>) | null>;
  startRun: StartRun;
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  giveUpAfterMs: number;
  now: () => Date;
};

/** `running`: a run is under way, and another one follows it. `requestId`: of the run; null when there is none. */
export type WatchRun = { requestId: string | null; status: RunStart | 'running' | 'paused' };

/** A run may have begun or ended since the watch was read: then it is looked at again. */
const TRIES = 5;

/** Starts one watch's run as if it were due now, whatever else is under way; `null` when there is no such watch. */
export const runWatch =
  ({ findOrFollow, startRun, enqueue, giveUpAfterMs, now }: RunWatchDeps) =>
  async (watchId: string): Promise<WatchRun | null> => {
    for (let tries = 1; ; tries += 1) {
      const watch = await findOrFollow(watchId, now());
      if (!watch) return null;
      if (watch.requestId !== null) return { requestId: watch.requestId, status: 'running' };
      if (watch.state === 'paused') return { requestId: null, status: 'paused' };
      const run = planRun(watch, giveUpAfterMs, now());
      const outcome = await startRun({ ...run, asIfDue: true });
      if (outcome === 'not_due' && tries < TRIES) continue;
      if (outcome !== 'started') return { requestId: null, status: outcome };
      await enqueue([lookupJobOf(run.requestId, watch, run.now)]);
      return { requestId: run.requestId, status: 'started' };
    }
  };

export type StartDueWatchesDeps = {
  /** Watches that are due, the longest due first, at most as many a member state as may be under way beside those that are. */
  findDue: (now: Date, maxUnderWay: number) => Promise<DueWatch[]>;
  startRun: StartRun;
  /** Gives requests their ask's job. A failure is no harm: the rows are there, and the sweep finds them. */
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  onEnqueueFailure: (error: unknown) => void;
  giveUpAfterMs: number;
  stopping: AbortSignal;
  now: () => Date;
};

/**
 * Runs of one member state under way at once, waiting or suspended; the others stay due. So Redis stays small and an outage
 * does not turn every watch of its member state into a pending request.
 */
export const MAX_UNDER_WAY = 64;

/** Statements at once: enough to keep a connection busy, few beside what callers need. */
const LANES = 4;

/** How many runs began, and how many were put off. */
export type StartedWatches = Record<Exclude<RunStart, 'not_due'>, number>;

/** Starts the runs of the watches that are due, as far as there is room for them. Harmless however often it runs. */
export const startDueWatches = (deps: StartDueWatchesDeps) => {
  const startAll = async (due: DueWatch[], started: StartedWatches): Promise<OverdueRequest[]> => {
    const asks: OverdueRequest[] = [];
    const waiting = [...due];
    const lane = async (): Promise<void> => {
      for (let watch = waiting.shift(); watch && !deps.stopping.aborted; watch = waiting.shift()) {
        const run = planRun(watch, deps.giveUpAfterMs, deps.now());
        const outcome = await deps.startRun(run);
        if (outcome !== 'not_due') started[outcome] += 1;
        if (outcome === 'started') asks.push(lookupJobOf(run.requestId, watch, run.now));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return asks;
  };

  return async (): Promise<StartedWatches> => {
    const started: StartedWatches = { started: 0, quota_exceeded: 0, account_disabled: 0 };
    while (!deps.stopping.aborted) {
      const due = await deps.findDue(deps.now(), MAX_UNDER_WAY);
      const skipped = started.quota_exceeded + started.account_disabled;
      const asks = await startAll(due, started);
      if (asks.length > 0) await deps.enqueue(asks).catch(deps.onEnqueueFailure);
      // Those that were put off left their room to others.
      if (started.quota_exceeded + started.account_disabled === skipped) break;
    }
    return started;
  };
};
