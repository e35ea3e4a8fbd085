import type { OverdueRequest } from '../request/ports.js';
import { planRun } from './plan-run.js';
import type { DueWatch, RunStart, StartRun } from './run.js';
import { toAsk } from './to-ask.js';

export type StartDueWatchesDeps = {
  /** Watches that are due, the longest due first, at most as many a member state as may be under way beside those that are. */
  findDue: (now: Date, mostUnderWay: number) => Promise<DueWatch[]>;
  startRun: StartRun;
  /** Gives requests their ask's job. A failure is no harm: the rows are there, and the sweep finds them. */
  enqueue: (requests: OverdueRequest[]) => Promise<void>;
  onEnqueueFailure: (error: unknown) => void;
  giveUpAfterMs: number;
  stopping: AbortSignal;
  now: () => Date;
};

/**
 * Runs of one member state under way at once, waiting or parked; the others stay due. So Redis stays small and an outage
 * does not turn every watch of its member state into a pending request.
 */
export const MOST_UNDER_WAY = 64;

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
        if (outcome === 'started') asks.push(toAsk(run.requestId, watch, run.now));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return asks;
  };

  return async (): Promise<StartedWatches> => {
    const started: StartedWatches = { started: 0, quota_exceeded: 0, account_disabled: 0 };
    while (!deps.stopping.aborted) {
      const due = await deps.findDue(deps.now(), MOST_UNDER_WAY);
      const skipped = started.quota_exceeded + started.account_disabled;
      const asks = await startAll(due, started);
      if (asks.length > 0) await deps.enqueue(asks).catch(deps.onEnqueueFailure);
      // Those that were put off left their room to others.
      if (started.quota_exceeded + started.account_disabled === skipped) break;
    }
    return started;
  };
};
