import { PLANS, type Plan } from '../account/account.js';
import type { CheckEntry } from '../check/entry.js';
import type { MemberState } from '../member-states.js';

/** How often a watched number is asked about. Which plan sells which is in PLANS. Source: contract part 2 §6. */
export const WATCH_FREQUENCIES = ['weekly', 'daily'] as const;
export type WatchFrequency = (typeof WATCH_FREQUENCIES)[number];

/** A paused watch is not asked about; it still counts among the account's watches. */
export const WATCH_STATES = ['active', 'paused'] as const;
export type WatchState = (typeof WATCH_STATES)[number];

/** A number that is asked about again and again. Ids are UUIDs. */
export type Watch = {
  id: string;
  accountId: string;
  /** Normalised, prefix included: what makes two watches the same. */
  vatNumber: string;
  label: string | null;
  frequency: WatchFrequency;
  state: WatchState;
  createdAt: Date;
  nextCheckAt: Date;
  /** The request of the run that is under way. */
  requestId: string | null;
  lastCheckId: string | null;
  lastCheckedAt: Date | null;
};

/** What is written down when a watch is made, beside what every new one begins with. */
export type NewWatch = Pick<Watch, 'id' | 'accountId' | 'vatNumber' | 'label' | 'frequency' | 'createdAt'> & {
  memberState: MemberState;
  national: string;
  /** The number as it was given. */
  input: string;
  /** Normalised requester number, prefix included. */
  requester: string | null;
};

/** What can change on a watched number. Source: contract part 2 §6. */
export const CHANGE_KINDS = ['validity', 'name', 'address'] as const;

/** A difference between two answers: booleans of `validity`, texts or null of `name` and `address`. */
export type Change =
  | { kind: 'validity'; before: boolean; after: boolean }
  | { kind: 'name' | 'address'; before: string | null; after: string | null };

/** A change as it was written down. Ids are UUIDs. */
export type RecordedChange = Change & { id: string; checkId: string; changedAt: Date };

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

/** Whether a plan sells a frequency. Source: contract part 2 §3. */
export const sellsFrequency = (plan: Plan, frequency: WatchFrequency): boolean =>
  (PLANS[plan].frequencies as readonly WatchFrequency[]).includes(frequency);
