import { isPlan, monthlyQuota, type Plan } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Who is signed in to the dashboard. */
export type SignedIn = {
  userId: string;
  email: string;
  accountId: string;
  accountName: string;
  plan: Plan;
  /** Checks a month. */
  quota: number;
  disabled: boolean;
};

/** When sessions end, in milliseconds. */
export type SessionTerms = {
  /** Without use. */
  idleMs: number;
  /** However much it is used. */
  maxAgeMs: number;
  /** Use is noted at most this often: more would be a write a call. */
  noteEveryMs: number;
};

type Row = {
  user_id: string;
  email: string;
  account_id: string;
  name: string;
  plan: string;
  monthly_quota: number | null;
  disabled_at: Date | null;
};

/** Who a live session belongs to, and notes its use; `null` when it is unknown, ended or expired. */
export const findSession =
  (db: Queryable, { idleMs, maxAgeMs, noteEveryMs }: SessionTerms) =>
  async (id: Uint8Array, now: Date): Promise<SignedIn | null> => {
    const hash = Buffer.from(id);
    const idleEnd = new Date(now.getTime() + idleMs);
    const [row] = await db.$queryRaw<Row[]>`
      WITH noted AS (
        UPDATE session SET last_seen_at = ${now}::timestamptz,
          expires_at = LEAST(${idleEnd}::timestamptz, created_at + ${maxAgeMs / 1_000}::float8 * interval '1 second')
        WHERE id = ${hash}::bytea AND expires_at > ${now}::timestamptz
          AND last_seen_at <= ${new Date(now.getTime() - noteEveryMs)}::timestamptz
      )
      SELECT u.id AS user_id, u.email, a.id AS account_id, a.name, a.plan, a.monthly_quota, a.disabled_at
      FROM session s JOIN app_user u ON u.id = s.user_id JOIN account a ON a.id = u.account_id
      WHERE s.id = ${hash}::bytea AND s.expires_at > ${now}::timestamptz`;
    if (!row) return null;
    if (!isPlan(row.plan)) throw new Error(`account ${row.account_id} has the unknown plan ${row.plan}`);
    return {
      userId: row.user_id,
      email: row.email,
      accountId: row.account_id,
      accountName: row.name,
      plan: row.plan,
      quota: monthlyQuota({ plan: row.plan, monthlyQuota: row.monthly_quota }),
      disabled: row.disabled_at !== null,
    };
  };
