import { AppError } from '../errors.js';
import type { Role } from './role.js';

/** Users an account may have. */
export const MAX_MEMBERS = 100;

/** A user of an account. `lastSeenAt`: the last use of a session that has not ended. */
export type Member = { id: string; email: string; role: Role; createdAt: Date; lastSeenAt: Date | null };

/** The error of a call that the caller's role does not allow. */
export const refusedByRole = (role: Role): AppError =>
  new AppError('FORBIDDEN', {
    message:
      role === 'auditor'
        ? 'An auditor reads everything and changes nothing.'
        : 'Only an owner of the account can do this.',
  });

/** The error of a further user. */
export const tooManyMembers = (): AppError =>
  new AppError('MEMBER_LIMIT', {
    message: `The account has ${MAX_MEMBERS} members already.`,
    extra: { limit: MAX_MEMBERS },
  });

/** What becomes of a member: another role, or null when the member is removed. */
export type MemberChange = { accountId: string; ownerId: string; userId: string; role: Role | null };

/**
 * Changes the role of a member or removes a member, by an owner. Effective with the member's next call. Throws NOT_FOUND,
 * LAST_OWNER, and FORBIDDEN when the caller is no owner any more.
 */
export const changeMember =
  (change: (input: MemberChange) => Promise<'changed' | 'missing' | 'not_owner' | 'last_owner'>) =>
  async (input: MemberChange): Promise<void> => {
    const outcome = await change(input);
    if (outcome === 'not_owner') throw refusedByRole('member');
    if (outcome === 'missing') throw new AppError('NOT_FOUND');
    if (outcome === 'last_owner') throw new AppError('LAST_OWNER');
  };
