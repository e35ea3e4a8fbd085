import {
  changeMemberBody,
  invitationBody,
  inviteBody,
  presentInvitation,
  presentMember,
  presentOpenInvitation,
} from '@vat/contracts';
import {
  AppError,
  type changeMember,
  type getInvitation,
  type Invitation,
  type invite,
  type Member,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import { ownedId } from '../http/call.js';
import { parse } from '../http/parse.js';
import { sessionOf } from './session.js';

export type MemberRoutesDeps = {
  listMembers: (accountId: string) => Promise<Member[]>;
  listInvitations: (accountId: string, now: Date) => Promise<Invitation[]>;
  changeMember: ReturnType<typeof changeMember>;
  invite: ReturnType<typeof invite>;
  /** False when the account has no such pending invitation. */
  revokeInvitation: (accountId: string, id: string) => Promise<boolean>;
  getInvitation: ReturnType<typeof getInvitation>;
  now: () => Date;
};

/** The routes of /app/api/members and /app/api/invitations, and of /app/api/invitation, which reads the token of a link. */
export const memberRoutes = ({ now, ...deps }: MemberRoutesDeps) => {
  // Both lists are bounded by their limits, so they have no pages.
  const list: RequestHandler = async (_req, res) => {
    const { accountId } = sessionOf(res);
    const [members, invitations] = await Promise.all([
      deps.listMembers(accountId),
      deps.listInvitations(accountId, now()),
    ]);
    res.json({ members: members.map(presentMember), invitations: invitations.map(presentInvitation) });
  };

  const changeRole: RequestHandler = async (req, res) => {
    const { accountId, userId: ownerId } = sessionOf(res);
    const userId = ownedId('user', req.params.id);
    const { role } = parse(changeMemberBody, req.body);
    await deps.changeMember({ accountId, ownerId, userId, role });
    res.status(204).end();
  };

  const removeMember: RequestHandler = async (req, res) => {
    const { accountId, userId: ownerId } = sessionOf(res);
    await deps.changeMember({ accountId, ownerId, userId: ownedId('user', req.params.id), role: null });
    res.status(204).end();
  };

  const invite: RequestHandler = async (req, res) => {
    const { accountId, userId: id, email: address } = sessionOf(res);
    const { email = null, role } = parse(inviteBody, req.body);
    const invited = await deps.invite({ accountId, owner: { id, email: address }, email, role });
    res.status(201).json({ ...presentInvitation(invited), url: invited.url, mailed: invited.isMailed });
  };

  const revokeInvitation: RequestHandler = async (req, res) => {
    const isRevoked = await deps.revokeInvitation(sessionOf(res).accountId, ownedId('invitation', req.params.id));
    if (!isRevoked) throw new AppError('NOT_FOUND');
    res.status(204).end();
  };

  const getInvitation: RequestHandler = async (req, res) => {
    const { token } = parse(invitationBody, req.body);
    res.json(presentOpenInvitation(await deps.getInvitation(token)));
  };

  return { listMembers: list, changeRole, removeMember, invite, revokeInvitation, getInvitation };
};
