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
  invite,
  type SessionSecrets,
  TAKEN_ADDRESS_LIMIT,
} from '@vat/domain';
import type { MemberRoutesDeps } from './member-routes.js';
import type { SessionRoutesDeps } from './session-routes.js';

type MembersServices = {
  db: Database;
  tokens: SessionSecrets;
  hashPassword: (password: string) => Promise<string>;
  beginSession: ReturnType<typeof beginSession>;
  baseUrl: () => string;
  now: () => Date;
};

/** Composes the members of accounts and their invitations. */
export const composeMembers = ({
  db,
  tokens,
  hashPassword,
  beginSession,
  baseUrl,
  now,
}: MembersServices): Omit<MemberRoutesDeps, 'now'> & Pick<SessionRoutesDeps, 'acceptInvitation'> => ({
  listMembers: listMembers(db),
  listInvitations: listInvitations(db),
  changeMember: changeMember(replaceMember(db)),
  invite: invite({
    tokens,
    insertInvitation: insertInvitation(db),
    // In the fragment, which browsers send to no server and in no Referer header.
    linkOf: (token) => `${baseUrl()}/app/invitation#${token}`,
    // The service sends no e-mail: the owner passes on the link.
    sendMail: () => undefined,
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
    insertMember: insertMember(db),
    beginSession,
    now,
  }),
});
