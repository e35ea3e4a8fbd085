import type { InvitationToMail, MailClaim, MailOutcome, Role } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { all, columns, query, typed } from '../query.js';

/** The ids of invitations that are due to be mailed, the longest due first. */
export const listInvitationsToMail =
  (db: Queryable) =>
  async (now: Date, limit: number): Promise<string[]> => {
    const rows = await query(db, { id: 'uuid' })`
      SELECT id FROM invitation WHERE mail_due_at <= ${now}::timestamptz ORDER BY mail_due_at, id LIMIT ${limit}::int`;
    return rows.map(({ id }) => id);
  };

const TO_MAIL = columns({
  id: 'uuid',
  email: 'text!',
  ...all('text', 'accountName', 'invitedBy'),
  role: typed<Role>('text'),
  ...all('timestamptz', 'createdAt', 'expiresAt'),
  attempts: 'int4',
  isWanted: 'bool',
});

/** Claims an attempt to mail an invitation until `leasedUntil`, as `claimMail` does. */
export const claimInvitationMail =
  (db: Queryable) =>
  async (id: string, now: Date, leasedUntil: Date): Promise<MailClaim<InvitationToMail>> => {
    const [mail] = await query(db, TO_MAIL)`
      WITH claimed AS (
        UPDATE invitation SET mail_attempts = mail_attempts + 1, mail_due_at = ${leasedUntil}::timestamptz
        WHERE id = ${id}::uuid AND mail_due_at <= ${now}::timestamptz AND email IS NOT NULL
          AND expires_at > ${now}::timestamptz
        RETURNING id, account_id, invited_by, email, role, created_at, expires_at, mail_attempts
      )
      SELECT c.id, c.email, a.name AS "accountName", u.email AS "invitedBy", c.role, c.created_at AS "createdAt", c.expires_at AS "expiresAt", c.mail_attempts AS attempts,
        a.disabled_at IS NULL AS "isWanted"
      FROM claimed c JOIN account a ON a.id = c.account_id JOIN app_user u ON u.id = c.invited_by`;
    if (mail) return { kind: 'claimed', mail };
    const [waiting] = await query(db, { at: 'timestamptz!' })`
      SELECT mail_due_at AS at FROM invitation WHERE id = ${id}::uuid AND mail_due_at > ${now}::timestamptz`;
    return waiting ? { kind: 'not_yet', at: waiting.at } : { kind: 'settled' };
  };

type Attempted = Pick<InvitationToMail, 'id' | 'attempts'>;

/** Records the outcome of an attempt; changes nothing when another one has begun since. */
export const recordInvitationMail =
  (db: Queryable) =>
  async ({ id, attempts }: Attempted, outcome: MailOutcome): Promise<void> => {
    const next = outcome.state === 'pending' ? outcome.nextAttemptAt : null;
    await db.$executeRaw`
      UPDATE invitation SET mail_due_at = ${next}::timestamptz
      WHERE id = ${id}::uuid AND mail_due_at IS NOT NULL AND mail_attempts = ${attempts}::int`;
  };

/** Gives an attempt back that was cancelled: it does not count, and the invitation is due at once. */
export const releaseInvitationMail =
  (db: Queryable) =>
  async ({ id, attempts }: Attempted, now: Date): Promise<void> => {
    await db.$executeRaw`
      UPDATE invitation SET mail_attempts = mail_attempts - 1, mail_due_at = ${now}::timestamptz
      WHERE id = ${id}::uuid AND mail_due_at IS NOT NULL AND mail_attempts = ${attempts}::int`;
  };

/** Leaves an invitation to its link. */
export const discardInvitationMail =
  (db: Queryable) =>
  async (id: string): Promise<void> => {
    await db.$executeRaw`UPDATE invitation SET mail_due_at = NULL WHERE id = ${id}::uuid`;
  };
