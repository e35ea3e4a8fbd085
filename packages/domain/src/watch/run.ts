import type { Plan } from '../account/plans.js';
import type { CheckEntry } from '../check/entry.js';
import type { MemberState } from '../member-states.js';
import type { Watch, WatchFrequency } from './watch.js';

/** A watch that is due, with what its run needs to know. */
export type DueWatch = {
  id: string;
  memberState: MemberState;
  vatNumber: string;
  frequency: WatchFrequency;
  /** The account's plan and its own figure of checks a month, if it has one. */
  plan: Plan;
  monthlyQuota: number | null;
};

/** A run on its way into the database. */
export type RunToStart = {
  watchId: string;
  requestId: string;
  entries: CheckEntry[];
  now: Date;
  giveUpAt: Date;
  /** The unit to reserve. */
  quota: { period: string; limit: number };
  /** When the watch is due again, and when it is if this run must be skipped. */
  nextCheckAt: Date;
  retryAt: Date;
  /** Whether it is started although the watch is not due yet. */
  asIfDue: boolean;
};

/** `not_due`: somebody else was faster, or it was paused or deleted. */
export type RunStart = 'started' | 'quota_exceeded' | 'account_disabled' | 'not_due';

/** Port: reserves a unit and makes the run's request, or puts the run off; all in one statement. */
export type StartRun = (run: RunToStart) => Promise<RunStart>;

/** What the end of a run is compared with: the watch whose run a request is. */
export type RunningWatch = Pick<Watch, 'id' | 'vatNumber' | 'label'> & {
  lastValid: boolean | null;
  /** Name and address of the last valid answer; null when there was none. */
  whenValid: { name: string | null; address: string | null } | null;
};
