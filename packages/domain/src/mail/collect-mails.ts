import { monthlyQuota, type Plan, periodOf } from '../account/account.js';
import { newUuid } from '../ids.js';
import { decideQuotaMail, MAIL_INTERVAL_MS, type MailKind } from './mail.js';

/** The units of an account in a month: used and reserved together. */
export type AccountUsage = {
  accountId: string;
  plan: Plan;
  monthlyQuota: number | null;
  taken: number;
  mailedPercent: number;
};

/** A user for whom something of a kind happened. `isFree`: no mail of the kind is on its way or was sent within the interval. */
export type WaitingItems = { userId: string; kind: MailKind; isFree: boolean };

/** A share of the quota, in percent, that an account has reached on the plan that it had when its usage was read. */
export type ReachedQuota = Pick<AccountUsage, 'accountId' | 'plan' | 'monthlyQuota'> & {
  period: string;
  percent: number;
  now: Date;
};

type CollectMailsDeps = {
  /** Accounts that have reached a share of their quota in a month that is not written down. */
  listReached: (period: string, limit: number) => Promise<AccountUsage[]>;
  /** Writes down, for users who want to know, that an account has reached a share of its quota, unless its plan has changed. */
  noteQuota: (reached: ReachedQuota) => Promise<void>;
  listWaiting: (after: WaitingItems | null, sentSince: Date, limit: number) => Promise<WaitingItems[]>;
  /** Makes a mail of what waits, unless one is on its way or was sent meanwhile. False when it made none. */
  create: (mail: { id: string; userId: string; kind: MailKind; sentSince: Date; now: Date }) => Promise<boolean>;
  /** The ids of due mails, the longest due first. */
  listDue: (now: Date, limit: number) => Promise<string[]>;
  enqueue: (ids: string[]) => Promise<void>;
  now: () => Date;
};

/** Accounts and users that a statement reads. */
const PAGE = 500;
/** Mails that one run enqueues; the next one continues. */
const MAX_ENQUEUED = 1_000;

/**
 * Makes mails of what happened and enqueues those that are due, also after a crash or a loss of Redis. What happens is written
 * down when it happens, except the shares of quotas, which are found here. Returns the number of new mails.
 */
export const collectMails =
  (deps: CollectMailsDeps) =>
  async (stopping: AbortSignal): Promise<number> => {
    const now = deps.now();
    const period = periodOf(now);
    for (let size = PAGE; size === PAGE && !stopping.aborted; ) {
      const accounts = await deps.listReached(period, PAGE);
      for (const { accountId, taken, mailedPercent, ...sold } of accounts) {
        const percent = decideQuotaMail({ taken, quota: monthlyQuota(sold), mailedPercent });
        if (percent !== null) await deps.noteQuota({ accountId, ...sold, period, percent, now });
      }
      size = accounts.length;
    }
    const sentSince = new Date(now.getTime() - MAIL_INTERVAL_MS);
    let made = 0;
    for (let [after, size]: [WaitingItems | null, number] = [null, PAGE]; size === PAGE && !stopping.aborted; ) {
      const waiting: WaitingItems[] = await deps.listWaiting(after, sentSince, PAGE);
      for (const { userId, kind, isFree } of waiting) {
        if (isFree && (await deps.create({ id: newUuid(), userId, kind, sentSince, now }))) made += 1;
      }
      [after, size] = [waiting.at(-1) ?? null, waiting.length];
    }
    const ids = await deps.listDue(now, MAX_ENQUEUED);
    if (ids.length > 0) await deps.enqueue(ids);
    return made;
  };
