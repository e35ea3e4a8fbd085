import {
  type CompletedBatch,
  type FailedDelivery,
  type InvitationFacts,
  type MailClaim,
  type MailFacts,
  type MailOutcome,
  monthlyQuota,
  type PendingMail,
  type Plan,
  periodEnd,
  periodOf,
  type Role,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, selectList, typed } from '../query.js';
import { ACCOUNT_CHANGE, ACCOUNT_CHANGE_LIST } from '../watch/watches.js';

/** The ids of due mails, the longest due first. */
export const listDueMails =
  (db: Queryable) =>
  async (now: Date, limit: number): Promise<string[]> => {
    const rows = await query(db, { id: 'uuid' })`
      SELECT id FROM mail WHERE state = 'pending' AND next_attempt_at <= ${now}::timestamptz
      ORDER BY next_attempt_at, id LIMIT ${limit}::int`;
    return rows.map(({ id }) => id);
  };

/**
 * Claims an attempt for this process until `leasedUntil`, so that a mail is sent once even if its job runs twice. The lease is longer
 * than any attempt, so it expires only when its process is dead.
 */
export const claimMail =
  (db: Queryable) =>
  async (id: string, now: Date, leasedUntil: Date): Promise<MailClaim> => {
    const [mail] = await query(db, {
      ...all('uuid', 'id', 'userId', 'accountId'),
      kind: typed<PendingMail['kind']>('text'),
      ...all('text', 'email', 'accountName'),
      ...all('int4', 'itemCount', 'attempts'),
      subjectIds: 'uuid[]',
      createdAt: 'timestamptz',
      isWanted: 'bool',
    })`
      WITH claimed AS (
        UPDATE mail SET attempts = attempts + 1, next_attempt_at = ${leasedUntil}::timestamptz
        WHERE id = ${id}::uuid AND state = 'pending' AND next_attempt_at <= ${now}::timestamptz
        RETURNING id, user_id, kind, item_count, subject_ids, created_at, attempts
      )
      SELECT c.id, c.kind, c.user_id AS "userId", u.email, a.id AS "accountId", a.name AS "accountName",
        c.item_count AS "itemCount", c.subject_ids AS "subjectIds", c.created_at AS "createdAt", c.attempts,
        a.disabled_at IS NULL AND CASE c.kind
          WHEN 'invitation' THEN EXISTS (SELECT FROM invitation i WHERE i.id = c.id AND i.expires_at > ${now}::timestamptz)
          ELSE c.kind = ANY(u.mail_kinds) END AS "isWanted"
      FROM claimed c JOIN app_user u ON u.id = c.user_id JOIN account a ON a.id = u.account_id`;
    if (mail) return { kind: 'claimed', mail };
    const [waiting] = await query(db, { at: 'timestamptz!' })`
      SELECT next_attempt_at AS at FROM mail WHERE id = ${id}::uuid AND state = 'pending'`;
    return waiting ? { kind: 'not_yet', at: waiting.at } : { kind: 'settled' };
  };

type Attempted = Pick<PendingMail, 'id' | 'attempts'>;

/**
 * Deletes the share of the quota that waits for the next mail, when a mail that was delayed has named it already: a mail says what is
 * reached when it is sent.
 */
const deleteNamedShare = (db: Queryable, mailId: string, { period, percent }: Extract<MailFacts, { kind: 'quota' }>) =>
  db.$executeRaw`
    DELETE FROM mail_item i USING mail m JOIN app_user u ON u.id = m.user_id JOIN usage q ON q.account_id = u.account_id
    WHERE m.id = ${mailId}::uuid AND q.period = ${period} AND q.mailed_percent = ${percent}::int
      AND i.user_id = m.user_id AND i.kind = 'quota' AND i.happened_at < ${periodEnd(period)}::timestamptz`;

/** Records the outcome of an attempt; changes nothing when another one has begun since. `facts`: what a sent mail said. */
export const recordMail =
  (db: Queryable) =>
  async (
    { id, attempts }: Attempted,
    outcome: MailOutcome,
    facts: MailFacts | InvitationFacts | null = null,
  ): Promise<void> => {
    if (outcome.state === 'sent' && facts?.kind === 'quota') await deleteNamedShare(db, id, facts);
    const next = outcome.state === 'pending' ? outcome.nextAttemptAt : null;
    const endedAt = outcome.state === 'pending' ? null : outcome.at;
    const error = outcome.state === 'sent' ? null : outcome.error;
    await db.$executeRaw`
      UPDATE mail SET state = ${outcome.state}, next_attempt_at = ${next}::timestamptz, ended_at = ${endedAt}::timestamptz,
        last_error = ${error}
      WHERE id = ${id}::uuid AND state = 'pending' AND attempts = ${attempts}::int`;
  };

/** Gives an attempt back that was cancelled: it does not count, and the mail is due at once. */
export const releaseMail =
  (db: Queryable) =>
  async ({ id, attempts }: Attempted, now: Date): Promise<void> => {
    await db.$executeRaw`
      UPDATE mail SET attempts = attempts - 1, next_attempt_at = ${now}::timestamptz
      WHERE id = ${id}::uuid AND state = 'pending' AND attempts = ${attempts}::int`;
  };

export const deleteMail =
  (db: Queryable) =>
  async (id: string): Promise<void> => {
    await db.$executeRaw`DELETE FROM mail WHERE id = ${id}::uuid`;
  };

type Subjects = Pick<PendingMail, 'kind' | 'subjectIds' | 'accountId' | 'createdAt'>;

const readDeliveries = (db: Queryable, ids: string[]): Promise<FailedDelivery[]> =>
  query(db, { id: 'uuid', eventType: 'text?', statusCode: 'int4?', error: 'text?', at: 'timestamptz' })`
    SELECT id, event_type AS "eventType", last_status_code AS "statusCode", last_error AS error,
      COALESCE(last_attempt_at, created_at) AS at
    FROM delivery WHERE ${isOneOf(Prisma.sql`id`, ids)} ORDER BY id`;

const COMPLETED = columns({
  id: 'uuid',
  ...all('text?', 'label', 'fileName'),
  ...all('int4', 'total', 'valid', 'invalid', 'failed'),
});

const readBatches = (db: Queryable, ids: string[]): Promise<CompletedBatch[]> =>
  query(
    db,
    COMPLETED,
  )`SELECT ${selectList('b', COMPLETED)} FROM batch b WHERE b.id = ANY(${ids}::uuid[]) ORDER BY b.id`;

const readChanges = async (db: Queryable, ids: string[]) =>
  (await query(db, ACCOUNT_CHANGE)`
    SELECT ${ACCOUNT_CHANGE_LIST} FROM watch_change c JOIN watch w ON w.id = c.watch_id
    WHERE c.id = ANY(${ids}::uuid[]) ORDER BY c.id`) as Extract<MailFacts, { kind: 'watch_changes' }>['changes'];

const readQuota = async (db: Queryable, { accountId, createdAt }: Subjects): Promise<MailFacts | null> => {
  const period = periodOf(createdAt);
  const [usage] = await query(db, {
    plan: typed<Plan>('text'),
    monthlyQuota: 'int4?',
    ...all('int4', 'taken', 'percent'),
  })`
    SELECT a.plan, a.monthly_quota AS "monthlyQuota", u.used + u.reserved AS taken, u.mailed_percent AS percent
    FROM usage u JOIN account a ON a.id = u.account_id
    WHERE u.account_id = ${accountId}::uuid AND u.period = ${period} AND u.mailed_percent > 0`;
  if (!usage) return null;
  return { kind: 'quota', period, quota: monthlyQuota(usage), taken: usage.taken, percent: usage.percent };
};

const INVITED = columns({ id: 'uuid', email: 'text!', role: typed<Role>('text'), expiresAt: 'timestamptz' });

const readInvitation = async (db: Queryable, ids: string[]): Promise<InvitationFacts | null> => {
  const [invitation] = await query(db, INVITED)`
    SELECT id, email, role, expires_at AS "expiresAt" FROM invitation WHERE id = ANY(${ids}::uuid[]) AND email IS NOT NULL`;
  return invitation ? { kind: 'invitation', ...invitation } : null;
};

/** The contents of a mail; null when all of it was deleted meanwhile. */
export const readMailFacts =
  (db: Queryable) =>
  async (mail: Subjects): Promise<MailFacts | InvitationFacts | null> => {
    const { kind, subjectIds } = mail;
    if (kind === 'invitation') return readInvitation(db, subjectIds);
    if (kind === 'quota') return readQuota(db, mail);
    if (kind === 'failed_deliveries') {
      const deliveries = await readDeliveries(db, subjectIds);
      return deliveries.length > 0 ? { kind, deliveries } : null;
    }
    if (kind === 'completed_batches') {
      const batches = await readBatches(db, subjectIds);
      return batches.length > 0 ? { kind, batches } : null;
    }
    const changes = await readChanges(db, subjectIds);
    return changes.length > 0 ? { kind, changes } : null;
  };
