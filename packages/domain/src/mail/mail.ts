import type { Role } from '../account/role.js';
import type { AccountChange } from '../watch/watch.js';

/** What a user can get mail about. A new user gets the first two; the default of `app_user.mail_kinds` repeats this. */
export const MAIL_KINDS = ['failed_deliveries', 'quota', 'completed_batches', 'watch_changes'] as const;
export type MailKind = (typeof MAIL_KINDS)[number];

/** The kinds in sentences, as the settings of the dashboard name them. */
export const MAIL_KIND_NAMES: Readonly<Record<MailKind, string>> = {
  failed_deliveries: 'failed deliveries',
  quota: 'the quota',
  completed_batches: 'completed batches',
  watch_changes: 'changes of watches',
};

/** A user gets at most one mail of a kind in this time. What happens meanwhile is collected in the next one. */
export const MAIL_INTERVAL_MS = 3_600_000;

/** What happened longer ago than this is not mailed any more, such as after mail was not configured for a while. */
export const MAIL_ITEM_RETENTION_MS = 86_400_000;

/** How long ended mail is stored. */
export const MAIL_RETENTION_MS = 30 * 86_400_000;

/** Things that one mail counts, and that it lists. More than it counts are in the next one. */
export const MAIL_ITEMS = { counted: 10_000, listed: 5 } as const;

/** Shares of the quota in percent that mail is sent about, each once a month, in ascending order. `usage_of_month` knows the last. */
export const QUOTA_PERCENTS = [80, 100];

/** Units of the month that are used or reserved, and the share that mail has been sent about. */
type QuotaState = { taken: number; quota: number; mailedPercent: number };

/** The share of the quota, in percent, that mail is to be sent about; null for none. A share that a higher one overtook is left out. */
export const decideQuotaMail = ({ taken, quota, mailedPercent }: QuotaState): number | null => {
  const reached = QUOTA_PERCENTS.findLast((percent) => quota > 0 && taken * 100 >= quota * percent);
  return reached !== undefined && reached > mailedPercent ? reached : null;
};

/** From a failed attempt to the next, in milliseconds; the last one repeats. */
const RETRY_DELAYS_MS = [5_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000];
/** After this time from its creation a mail is given up. */
const GIVE_UP_AFTER_MS = 86_400_000;

/** When a mail is attempted again after a failed attempt; null when it is given up. `attempts` includes that one. */
export const planMail = (mail: Pick<PendingMail, 'attempts' | 'createdAt'>, failedAt: Date): Date | null => {
  const delay = RETRY_DELAYS_MS[Math.min(mail.attempts, RETRY_DELAYS_MS.length) - 1] ?? 0;
  const next = failedAt.getTime() + delay;
  return next > mail.createdAt.getTime() + GIVE_UP_AFTER_MS ? null : new Date(next);
};

/** A mail on its way: about what happened, for its user, or an invitation to its account, from its user. Ids are UUIDs. */
export type PendingMail = {
  id: string;
  createdAt: Date;
  /** Those that were begun. */
  attempts: number;
  /** Whether the user still wants mail of the kind, or the invitation is pending, and the account is enabled. */
  isWanted: boolean;
  kind: MailKind | 'invitation';
  userId: string;
  email: string;
  accountId: string;
  accountName: string;
  /** How many things happened, and the subjects of the first few. */
  itemCount: number;
  subjectIds: string[];
};

export type FailedDelivery = {
  id: string;
  eventType: string | null;
  statusCode: number | null;
  error: string | null;
  at: Date;
};
export type CompletedBatch = {
  id: string;
  label: string | null;
  fileName: string | null;
  total: number;
  valid: number;
  invalid: number;
  failed: number;
};

/** The contents of a mail about what happened. The lists have the first few things, without those that were deleted meanwhile. `period`: YYYY-MM. */
export type MailFacts =
  | { kind: 'failed_deliveries'; deliveries: FailedDelivery[] }
  | { kind: 'quota'; percent: number; taken: number; quota: number; period: string }
  | { kind: 'completed_batches'; batches: CompletedBatch[] }
  | { kind: 'watch_changes'; changes: AccountChange[] };

/** The contents of an invitation's mail. `email`: of the invited person. */
export type InvitationFacts = { kind: 'invitation'; id: string; email: string; role: Role; expiresAt: Date };
