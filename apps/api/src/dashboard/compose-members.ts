import {
  type Database,
  deleteInvitation,
  findInvitation,
  insertInvitation,
  insertMember,
  listInvitations,
  listMembers,
  changeMember as replaceMember,
  reserveTries,
  takeBackSignIn,
} from '@vat/db';
import {
  acceptInvitation,
  type beginSession,
  changeMember,
  getInvitation,
  invitationTokenOf,
  invite,
  MAILED_INVITATION_LIMIT,
  type PublishChange,
  type SessionSecrets,
  TAKEN_ADDRESS_LIMIT,
} from '@vat/domain';
import type { InTurn } from '../turns.js';
import type { MemberRoutesDeps } from './member-routes.js';
import type { SessionRoutesDeps } from './session-routes.js';

type MembersServices = {
  db: Database;
  tokens: SessionSecrets;
  hashPassword: (password: string) => Promise<string>;
  inTurn: InTurn;
  publishChange: PublishChange;
  beginSession: ReturnType<typeof beginSession>;
  /** The key of public links. */
  readLinkKey: () => Promise<Uint8Array>;
  sendsMail: boolean;
  baseUrl: () => string;
  now: () => Date;
};

/** Composes the members of accounts and their invitations. */
export const composeMembers = ({
  db,
  tokens,
  hashPassword,
  inTurn,
  publishChange,
  beginSession,
  readLinkKey,
  sendsMail,
  baseUrl,
  now,
}: MembersServices): Omit<MemberRoutesDeps, 'now'> & Pick<SessionRoutesDeps, 'acceptInvitation'> => ({
  listMembers: listMembers(db),
  listInvitations: listInvitations(db),
  changeMember: async (change) => {
    await changeMember(replaceMember(db))(change);
    publishChange(change.accountId, 'members');
  },
  invite: invite({
    tokens,
    tokenOf: invitationTokenOf(readLinkKey),
    sendsMail,
    reserve: reserveTries(db, MAILED_INVITATION_LIMIT.windowMs),
    takeBack: takeBackSignIn(db),
    insertInvitation: insertInvitation(db),
    baseUrl,
    now,
  }),
  revokeInvitation: deleteInvitation(db),
  getInvitation: getInvitation({ tokens, findInvitation: findInvitation(db), now }),
  acceptInvitation: acceptInvitation({
    tokens,
    findInvitation: findInvitation(db),
    reserve: reserveTries(db, TAKEN_ADDRESS_LIMIT.windowMs),
    takeBack: takeBackSignIn(db),
    hashPassword,
    inTurn,
    insertMember: insertMember(db),
    beginSession,
    now,
  }),
});
