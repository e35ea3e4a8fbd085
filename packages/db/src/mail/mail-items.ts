import {
  type AccountUsage,
  MAIL_ITEM_RETENTION_MS,
  MAIL_ITEMS,
  MAIL_RETENTION_MS,
  type MailKind,
  monthlyQuota,
  PLANS,
  type Plan,
  QUOTA_PERCENTS,
  type ReachedQuota,
  type WaitingItems,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks } from '../in-chunks.js';
import { all, query, typed } from '../query.js';
import { NIL } from '../uuid-bounds.js';

/** Accounts that have reached a share of their quota in a month that {@link noteQuota} has not written down. */
export const listReachedQuotas =
  (db: Queryable) =>
  (period: string, limit: number): Promise<AccountUsage[]> => {
    const plans = Object.keys(PLANS) as Plan[];
    const quotas = plans.map((plan) => monthlyQuota({ plan, monthlyQuota: null }));
    return query(db, {
      accountId: 'uuid',
      plan: typed<Plan>('text'),
      monthlyQuota: 'int4?',
      ...all('int4', 'taken', 'mailedPercent'),
    })`
      SELECT a.id AS "accountId", a.plan, a.monthly_quota AS "monthlyQuota", u.used + u.reserved AS taken,
        u.mailed_percent AS "mailedPercent"
      FROM usage u JOIN account a ON a.id = u.account_id
        JOIN unnest(${plans}::text[], ${quotas}::int[]) AS sold(plan, quota) ON sold.plan = a.plan
      WHERE u.period = ${period} AND u.mailed_percent < 100 AND COALESCE(a.monthly_quota, sold.quota) > 0 AND EXISTS (
        SELECT FROM unnest(${[...QUOTA_PERCENTS]}::int[]) AS percent WHERE percent > u.mailed_percent
          AND (u.used + u.reserved) * 100::bigint >= percent * COALESCE(a.monthly_quota, sold.quota)::bigint)
      LIMIT ${limit}::int`;
  };

/**
 * Writes down that an account has reached a share of its quota in a month, once, for its users who want mail about it. Nothing is
 * written when its plan has changed since the usage was read; the account is locked, since `setAccountPlan` may be about to change it.
 */
export const noteQuota =
  (db: Queryable) =>
  async ({ accountId, plan, monthlyQuota: own, period, percent, now }: ReachedQuota): Promise<void> => {
    await db.$executeRaw`
      WITH sold AS MATERIALIZED (
        SELECT id FROM account
        WHERE id = ${accountId}::uuid AND plan = ${plan} AND monthly_quota IS NOT DISTINCT FROM ${own}::int FOR SHARE
      ), reached AS (
        UPDATE usage SET mailed_percent = ${percent}::int FROM sold
        WHERE account_id = sold.id AND period = ${period} AND mailed_percent < ${percent}::int
        RETURNING account_id
      )
      INSERT INTO mail_item (user_id, kind, subject_id, happened_at)
      SELECT u.id, 'quota', u.account_id, ${now}::timestamptz FROM reached
        JOIN app_user u ON u.account_id = reached.account_id AND 'quota' = ANY(u.mail_kinds)
      FOR KEY SHARE OF u
      ON CONFLICT DO NOTHING`;
  };

/** That the newest mail of a user and kind has ended, and was not sent after `since`. */
const isFree = (userId: Prisma.Sql, kind: Prisma.Sql, since: Date): Prisma.Sql => Prisma.sql`
  COALESCE((
    SELECT m.state = 'failed' OR m.state = 'sent' AND m.ended_at <= ${since}::timestamptz FROM mail m
    WHERE m.user_id = ${userId} AND m.kind = ${kind} ORDER BY m.created_at DESC LIMIT 1), true)`;

/** A page of the users for whom something happened, by kind. Reads one item of each, however many there are. */
export const listWaitingItems =
  (db: Queryable) =>
  (after: Pick<WaitingItems, 'userId' | 'kind'> | null, sentSince: Date, limit: number): Promise<WaitingItems[]> =>
    query(db, { userId: 'uuid', kind: typed<MailKind>('text'), isFree: 'bool' })`
      WITH RECURSIVE waiting AS (
        (SELECT user_id, kind, 1 AS n FROM mail_item
          WHERE (user_id, kind) > (${after?.userId ?? NIL}::uuid, ${after?.kind ?? ''}) ORDER BY user_id, kind LIMIT 1)
        UNION ALL
        SELECT next.user_id, next.kind, w.n + 1 FROM waiting w, LATERAL (
          SELECT i.user_id, i.kind FROM mail_item i WHERE (i.user_id, i.kind) > (w.user_id, w.kind)
          ORDER BY i.user_id, i.kind LIMIT 1) AS next
        WHERE w.n < ${limit}::int
      )
      SELECT w.user_id AS "userId", w.kind, ${isFree(Prisma.sql`w.user_id`, Prisma.sql`w.kind`, sentSince)} AS "isFree"
      FROM waiting w ORDER BY w.n`;

type NewMail = { id: string; userId: string; kind: MailKind; sentSince: Date; now: Date };

/**
 * Makes a mail of what happened for a user, and deletes those items, in one statement: of two processes one makes it, and an item is
 * in one mail. False without a change when nothing waits, when a mail of the kind is on its way or was sent after `sentSince`, or when
 * the user is gone: it is locked before its items, in the order in which removing it deletes them.
 */
export const createMail =
  (db: Queryable) =>
  async ({ id, userId, kind, sentSince, now }: NewMail): Promise<boolean> => {
    const created = await db.$executeRaw`
      WITH reader AS MATERIALIZED (
        SELECT id FROM app_user WHERE id = ${userId}::uuid FOR KEY SHARE
      ), taken AS (
        DELETE FROM mail_item WHERE user_id = (SELECT id FROM reader) AND kind = ${kind} AND subject_id = ANY(ARRAY(
          SELECT subject_id FROM mail_item WHERE user_id = ${userId}::uuid AND kind = ${kind}
            AND (SELECT ${isFree(Prisma.sql`${userId}::uuid`, Prisma.sql`${kind}`, sentSince)})
          ORDER BY subject_id LIMIT ${MAIL_ITEMS.counted}::int))
        RETURNING subject_id
      )
      INSERT INTO mail (id, user_id, kind, state, item_count, subject_ids, created_at, next_attempt_at)
      SELECT ${id}::uuid, ${userId}::uuid, ${kind}, 'pending', count(*)::int,
        ARRAY(SELECT subject_id FROM taken ORDER BY subject_id LIMIT ${MAIL_ITEMS.listed}::int), ${now}::timestamptz,
        ${now}::timestamptz
      FROM taken HAVING count(*) > 0`;
    return created > 0;
  };

const CHUNK = 5_000;

/** Deletes what was not mailed for so long that nobody wants to read it, and old mail that has ended. */
export const deleteOldMail =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    const before = (ms: number) => new Date(now.getTime() - ms);
    await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM mail_item WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM mail_item WHERE happened_at < ${before(MAIL_ITEM_RETENTION_MS)}::timestamptz LIMIT ${CHUNK}::int))`,
    );
    await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM mail WHERE id = ANY(ARRAY(
          SELECT id FROM mail WHERE state <> 'pending' AND created_at < ${before(MAIL_RETENTION_MS)}::timestamptz
          LIMIT ${CHUNK}::int))`,
    );
  };
