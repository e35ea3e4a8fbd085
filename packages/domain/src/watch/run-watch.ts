import type { OverdueRequest } from '../request/ports.js';
import { planRun } from './plan-run.js';
import type { DueWatch, RunStart, StartRun } from './run.js';
import { toAsk } from './to-ask.js';
import type { Watch } from './watch.js';

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
      await enqueue([toAsk(run.requestId, watch, run.now)]);
      return { requestId: run.requestId, status: 'started' };
    }
  };
