import { PLANS, type Plan } from '../account/account.js';
import type { CheckEntry } from '../check/entry.js';
import type { Change } from '../delivery/event-bodies.js';
import type { MemberState } from '../member-states.js';

/** How often a watched number is checked. PLANS states which plan sells which frequency. */
export const WATCH_FREQUENCIES = ['weekly', 'daily'] as const;
export type WatchFrequency = (typeof WATCH_FREQUENCIES)[number];

/** A paused watch is not checked; it still counts among the account's watches. */
export const WATCH_STATES = ['active', 'paused'] as const;
export type WatchState = (typeof WATCH_STATES)[number];

/** A number that is checked at intervals. Ids are UUIDs. */
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
  /** Since when the number could not be checked; null when its last run ended with a check. */
  missedSince: Date | null;
};

/** A watch to be stored, without the fields that are the same for every new one. */
export type NewWatch = Pick<Watch, 'id' | 'accountId' | 'vatNumber' | 'label' | 'frequency' | 'createdAt'> & {
  memberState: MemberState;
  national: string;
  /** The number as it was given. */
  input: string;
  /** Normalised requester number, prefix included. */
  requester: string | null;
};

/** What can change on a watched number. */
export const CHANGE_KINDS = ['validity', 'name', 'address'] as const;

/** A change as it is stored. Ids are UUIDs. */
export type RecordedChange = Change & { id: string; checkId: string; changedAt: Date };

export type AccountChange = RecordedChange & { watchId: string; vatNumber: string; label: string | null };

/** A watch that is due, with the data that its run needs. */
export type DueWatch = {
  id: string;
  accountId: string;
  memberState: MemberState;
  vatNumber: string;
  frequency: WatchFrequency;
  /** The account's plan, and its own monthly quota if it has one. */
  plan: Plan;
  monthlyQuota: number | null;
};

/** A run on its way into the database. */
export type RunToStart = {
  watchId: string;
  /** As it was read: after a change, `nextCheckAt` does not hold, and the run is not due. */
  frequency: WatchFrequency;
  requestId: string;
  entries: CheckEntry[];
  now: Date;
  giveUpAt: Date;
  quota: { period: string; limit: number };
  /** When the watch is due again, and when it is if this run must be skipped. */
  nextCheckAt: Date;
  retryAt: Date;
  /** Starts the run although the watch is not due yet. */
  asIfDue: boolean;
};

/** `not_due`: another process started the run, or the watch was changed, paused or deleted. */
export type RunStart = 'started' | 'quota_exceeded' | 'account_disabled' | 'not_due';

/** Port: reserves a unit and creates the run's request, or postpones the run; in one statement. */
export type StartRun = (run: RunToStart) => Promise<RunStart>;

/** The watch whose run a request is, with what the end of the run is compared with. */
export type RunningWatch = Pick<Watch, 'id' | 'vatNumber' | 'label'> & {
  lastValid: boolean | null;
  /** Name and address of the last valid answer; null when there was none. */
  whenValid: { name: string | null; address: string | null } | null;
};

export const sellsFrequency = (plan: Plan, frequency: WatchFrequency): boolean =>
  (PLANS[plan].frequencies as readonly WatchFrequency[]).includes(frequency);
