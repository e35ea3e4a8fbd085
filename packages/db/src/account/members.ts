import type { Member, MemberChange, Role } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { all, columns, query, typed } from '../query.js';
import { lockAccount } from './accounts.js';

const MEMBER = columns({
  id: 'uuid',
  email: 'text',
  role: typed<Role>('text'),
  createdAt: 'timestamptz',
  lastSeenAt: 'timestamptz?',
});

/** The users of an account, at most a hundred, in the order in which they joined. */
export const listMembers =
  (db: Queryable) =>
  (accountId: string): Promise<Member[]> =>
    query(db, MEMBER)`
      SELECT u.id, u.email, u.role, u.created_at AS "createdAt",
        (SELECT max(s.last_seen_at) FROM session s WHERE s.user_id = u.id) AS "lastSeenAt"
      FROM app_user u WHERE u.account_id = ${accountId}::uuid ORDER BY u.id`;

/**
 * Changes the role of a member, or removes the member with all sessions. The invitations of a former owner end. Changes nothing
 * and returns `last_owner` when the account would have no owner, `not_owner` when `ownerId` is none any more.
 */
export const changeMember =
  (db: Database) =>
  ({ accountId, ownerId, userId, role }: MemberChange): Promise<'changed' | 'missing' | 'not_owner' | 'last_owner'> =>
    db.$transaction(async (tx) => {
      // Two owners who demote each other wait here for one another.
      await lockAccount(tx, accountId);
      const [are] = await query(tx, all('bool', 'isOwner', 'isMember', 'hasOtherOwner'))`
        SELECT coalesce(bool_or(id = ${ownerId}::uuid AND role = 'owner'), false) AS "isOwner",
          coalesce(bool_or(id = ${userId}::uuid), false) AS "isMember",
          coalesce(bool_or(id <> ${userId}::uuid AND role = 'owner'), false) AS "hasOtherOwner"
        FROM app_user WHERE account_id = ${accountId}::uuid`;
      if (!are?.isOwner) return 'not_owner';
      if (!are.isMember) return 'missing';
      if (role !== 'owner' && !are.hasOtherOwner) return 'last_owner';
      if (role === null) {
        await tx.$executeRaw`DELETE FROM app_user WHERE id = ${userId}::uuid`;
      } else {
        await tx.$executeRaw`UPDATE app_user SET role = ${role} WHERE id = ${userId}::uuid`;
        if (role !== 'owner') await tx.$executeRaw`DELETE FROM invitation WHERE invited_by = ${userId}::uuid`;
      }
      return 'changed';
    });
