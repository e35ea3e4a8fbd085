import type { Invitation, NewInvitation, NewMember, OpenInvitation, Role } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { all, columns, query, typed } from '../query.js';
import { lockAccount } from './accounts.js';

const INVITATION = columns({
  id: 'uuid',
  email: 'text?',
  role: typed<Role>('text'),
  invitedBy: 'text',
  ...all('timestamptz', 'createdAt', 'expiresAt'),
});

/** The pending invitations of an account, newest first, at most a hundred. */
export const listInvitations =
  (db: Queryable) =>
  (accountId: string, now: Date): Promise<Invitation[]> =>
    query(db, INVITATION)`
      SELECT i.id, i.email, i.role, u.email AS "invitedBy", i.created_at AS "createdAt", i.expires_at AS "expiresAt"
      FROM invitation i JOIN app_user u ON u.id = i.invited_by
      WHERE i.account_id = ${accountId}::uuid AND i.expires_at > ${now}::timestamptz ORDER BY i.id DESC`;

/** Stores an invitation, in place of a pending one for the same address, unless it returns another reason. */
export const insertInvitation =
  (db: Database) =>
  (
    { id, accountId, invitedBy, tokenHash, email, role, createdAt, expiresAt, mailDueAt }: NewInvitation,
    limits: { members: number; invitations: number },
  ): Promise<'inserted' | 'not_owner' | 'is_member' | 'too_many_members' | 'too_many_invitations'> =>
    db.$transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const [are] = await query(tx, { ...all('bool', 'isOwner', 'isNew'), members: 'int4' })`
        SELECT coalesce(bool_or(id = ${invitedBy}::uuid AND role = 'owner'), false) AS "isOwner",
          coalesce(bool_and(email IS DISTINCT FROM ${email}::text), true) AS "isNew", count(*)::int AS members
        FROM app_user WHERE account_id = ${accountId}::uuid`;
      if (!are?.isOwner) return 'not_owner';
      if (!are.isNew) return 'is_member';
      if (are.members >= limits.members) return 'too_many_members';
      await tx.$executeRaw`DELETE FROM invitation WHERE account_id = ${accountId}::uuid AND email = ${email}::text`;
      const [pending] = await query(tx, { n: 'int4' })`
        SELECT count(*)::int AS n FROM invitation
        WHERE account_id = ${accountId}::uuid AND expires_at > ${createdAt}::timestamptz`;
      // Then nothing was deleted but what has expired.
      if ((pending?.n ?? 0) >= limits.invitations) return 'too_many_invitations';
      await tx.$executeRaw`
        INSERT INTO invitation (id, account_id, invited_by, token_hash, email, role, created_at, expires_at)
        VALUES (${id}::uuid, ${accountId}::uuid, ${invitedBy}::uuid, ${Buffer.from(tokenHash)}::bytea, ${email}::text, ${role},
          ${createdAt}::timestamptz, ${expiresAt}::timestamptz)`;
      if (mailDueAt !== null)
        await tx.$executeRaw`
          INSERT INTO mail (id, user_id, kind, state, item_count, subject_ids, created_at, next_attempt_at)
          VALUES (${id}::uuid, ${invitedBy}::uuid, 'invitation', 'pending', 1, ARRAY[${id}::uuid], ${createdAt}::timestamptz,
            ${mailDueAt}::timestamptz)`;
      return 'inserted';
    });

/** Revokes a pending invitation; false when the account has no such one. */
export const deleteInvitation =
  (db: Queryable) =>
  async (accountId: string, id: string): Promise<boolean> => {
    const deleted = await db.$executeRaw`
      DELETE FROM invitation WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid`;
    return deleted > 0;
  };

const OPEN_INVITATION = columns({
  accountId: 'uuid',
  accountName: 'text',
  email: 'text?',
  role: typed<Role>('text'),
  expiresAt: 'timestamptz',
});

/** The pending invitation with a token, by its SHA-256; `null` when it was accepted or revoked, or has expired. */
export const findInvitation =
  (db: Queryable) =>
  async (tokenHash: Uint8Array, now: Date): Promise<OpenInvitation | null> => {
    const [found] = await query(db, OPEN_INVITATION)`
      SELECT i.account_id AS "accountId", a.name AS "accountName", i.email, i.role, i.expires_at AS "expiresAt"
      FROM invitation i JOIN account a ON a.id = i.account_id
      WHERE i.token_hash = ${Buffer.from(tokenHash)}::bytea AND i.expires_at > ${now}::timestamptz`;
    return found ?? null;
  };

/**
 * Creates the user of an invitation and deletes it, with any other one for the same address. Changes nothing unless it returns
 * `inserted`. Of two calls with the same token one succeeds: they wait for each other at the row of the account.
 */
export const insertMember =
  (db: Database) =>
  (
    { accountId, tokenHash }: { accountId: string; tokenHash: Uint8Array },
    { id, email, passwordHash, now }: NewMember,
    maxMembers: number,
  ): Promise<'inserted' | 'missing' | 'taken' | 'too_many_members'> =>
    db.$transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const [invitation] = await query(tx, { id: 'uuid', role: typed<Role>('text'), members: 'int4' })`
        SELECT id, role, (SELECT count(*)::int FROM app_user WHERE account_id = ${accountId}::uuid) AS members
        FROM invitation
        WHERE token_hash = ${Buffer.from(tokenHash)}::bytea AND account_id = ${accountId}::uuid
          AND expires_at > ${now}::timestamptz
        FOR UPDATE`;
      if (!invitation) return 'missing';
      if (invitation.members >= maxMembers) return 'too_many_members';
      const inserted = await tx.$executeRaw`
        INSERT INTO app_user (id, account_id, email, password_hash, role, created_at)
        VALUES (${id}::uuid, ${accountId}::uuid, ${email}, ${passwordHash}, ${invitation.role}, ${now}::timestamptz)
        ON CONFLICT (email) DO NOTHING`;
      if (inserted === 0) return 'taken';
      // Also another one for this address: with it the member could come back after a removal.
      await tx.$executeRaw`
        DELETE FROM invitation
        WHERE account_id = ${accountId}::uuid AND (id = ${invitation.id}::uuid OR email = ${email})`;
      return 'inserted';
    });

/** Deletes expired invitations. */
export const deleteExpiredInvitations =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    await db.$executeRaw`DELETE FROM invitation WHERE expires_at <= ${now}::timestamptz`;
  };
