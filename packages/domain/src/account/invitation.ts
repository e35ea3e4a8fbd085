import { linkToken } from '../check/public-link.js';
import { AppError, badRequest } from '../errors.js';
import { newUuid } from '../ids.js';
import { freeAt, type ReserveTries, secondsUntil, type TakeBackTries } from './attempts.js';
import { MAX_MEMBERS, refusedByRole, tooManyMembers } from './member.js';
import type { Role } from './role.js';
import type { beginSession, SessionSecrets } from './session.js';

/** Invitations of an account that may be pending at a time. */
export const MAX_INVITATIONS = 100;

/** The time in which an invitation can be accepted. */
export const INVITATION_LIFE_MS = 7 * 86_400_000;

/** How many taken addresses the invited persons of one account may try: each refusal reveals that the address has an account. */
export const TAKEN_ADDRESS_LIMIT = { tries: 20, windowMs: 60 * 60_000 } as const;

/** How many invitations an account may have mailed: nothing shows that their addresses want mail. */
export const MAILED_INVITATION_LIMIT = { tries: 100, windowMs: 24 * 60 * 60_000 } as const;

/** A pending invitation. `email`: lower case; null when the invited person chooses it. `invitedBy`: the address of an owner. */
export type Invitation = {
  id: string;
  email: string | null;
  role: Role;
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
};

/** An invitation to be stored. `invitedBy`: the id of the owner. `tokenHash`: SHA-256. `mailDueAt`: null when it is not mailed. */
export type NewInvitation = Invitation & { accountId: string; tokenHash: Uint8Array; mailDueAt: Date | null };

/** What the holder of an invitation's link may know. */
export type OpenInvitation = Pick<Invitation, 'email' | 'role' | 'expiresAt'> & {
  accountId: string;
  accountName: string;
};

/** The user whom an accepted invitation creates. */
export type NewMember = { id: string; email: string; passwordHash: string; now: Date };

/**
 * The token of an invitation, under the key of public links: workers make it again to mail the link, so it is stored nowhere.
 * 144 bits, of which only the hash is compared.
 */
export const invitationTokenOf =
  (readKey: () => Promise<Uint8Array>) =>
  async (invitationId: string): Promise<string> =>
    linkToken(await readKey(), `invitation ${invitationId}`);

/** The path of the page that accepts an invitation. In the fragment, which browsers send to no server and in no Referer header. */
export const invitationPath = (token: string): string => `/app/invitation#${token}`;

type InviteDeps = {
  tokens: Pick<SessionSecrets, 'hash' | 'hashAddress'>;
  tokenOf: (invitationId: string) => Promise<string>;
  /** Whether a mail server is configured. */
  sendsMail: boolean;
  /** Counts invitations to be mailed; those that are refused do not count. */
  reserve: ReserveTries;
  takeBack: TakeBackTries;
  /** Replaces a pending invitation for the same address. `not_owner`: the inviting user is no owner any more. */
  insertInvitation: (
    invitation: NewInvitation,
    limits: { members: number; invitations: number },
  ) => Promise<'inserted' | 'not_owner' | 'is_member' | 'too_many_members' | 'too_many_invitations'>;
  baseUrl: () => string;
  now: () => Date;
};

type InviteInput = {
  accountId: string;
  owner: { id: string; email: string };
  email: string | null;
  role: Role;
};

/**
 * Invites a person to an account. `url` is shown once; `isMailed`: it is also sent to the address, within seconds. Throws FORBIDDEN,
 * EMAIL_TAKEN for the address of a member, MEMBER_LIMIT, and RATE_LIMITED after {@link MAILED_INVITATION_LIMIT}. That an address belongs
 * to another account is not said here, but only to the person who has the link.
 */
export const invite =
  ({ tokens, tokenOf, sendsMail, reserve, takeBack, insertInvitation, baseUrl, now }: InviteDeps) =>
  async ({ accountId, owner, email, role }: InviteInput): Promise<Invitation & { url: string; isMailed: boolean }> => {
    const id = newUuid();
    const token = await tokenOf(id);
    const createdAt = now();
    const isMailed = sendsMail && email !== null;
    const key = tokens.hashAddress(`\0mailed invitations of\0${accountId}`);
    if (isMailed) {
      const { tries, windowMs } = MAILED_INVITATION_LIMIT;
      const refused = await reserve([{ key, tries }], createdAt);
      if (refused.length > 0)
        throw new AppError('RATE_LIMITED', {
          message: `The account has sent ${tries} invitations within a day.`,
          extra: { retry_after: secondsUntil(freeAt(refused), createdAt, windowMs) },
        });
    }
    const expiresAt = new Date(createdAt.getTime() + INVITATION_LIFE_MS);
    const invitation = { id, email, role, createdAt, expiresAt };
    const outcome = await insertInvitation(
      {
        ...{ ...invitation, accountId, invitedBy: owner.id, tokenHash: tokens.hash(token) },
        mailDueAt: isMailed ? createdAt : null,
      },
      { members: MAX_MEMBERS, invitations: MAX_INVITATIONS },
    );
    if (isMailed && outcome !== 'inserted') await takeBack([key], createdAt);
    if (outcome === 'not_owner') throw refusedByRole('member');
    if (outcome === 'is_member')
      throw new AppError('EMAIL_TAKEN', { message: 'A member of the account has this e-mail address.' });
    if (outcome === 'too_many_members') throw tooManyMembers();
    if (outcome === 'too_many_invitations')
      throw new AppError('MEMBER_LIMIT', {
        message: `The account has ${MAX_INVITATIONS} pending invitations already.`,
        extra: { limit: MAX_INVITATIONS },
      });
    return { ...invitation, invitedBy: owner.email, url: `${baseUrl()}${invitationPath(token)}`, isMailed };
  };

const endedInvitation = (): AppError =>
  new AppError('NOT_FOUND', { message: 'The invitation was accepted or revoked, or has expired.' });

type FindInvitation = (tokenHash: Uint8Array, now: Date) => Promise<OpenInvitation | null>;

/** Returns the pending invitation with a token. Throws NOT_FOUND. */
export const getInvitation =
  ({
    tokens,
    findInvitation,
    now,
  }: {
    tokens: Pick<SessionSecrets, 'hash'>;
    findInvitation: FindInvitation;
    now: () => Date;
  }) =>
  async (token: string): Promise<OpenInvitation> => {
    const invitation = await findInvitation(tokens.hash(token), now());
    if (!invitation) throw endedInvitation();
    return invitation;
  };

type AcceptInvitationDeps = {
  tokens: SessionSecrets;
  findInvitation: FindInvitation;
  reserve: ReserveTries;
  takeBack: TakeBackTries;
  hashPassword: (password: string) => Promise<string>;
  /** Runs work of the same account one piece at a time: many invitations of one must not hold up the sign-ins of others. */
  inTurn: <T>(accountId: string, work: () => Promise<T>) => Promise<T>;
  /** Creates the user and deletes the invitation, or changes nothing. `taken`: a user has the address. */
  insertMember: (
    invitation: { accountId: string; tokenHash: Uint8Array },
    member: NewMember,
    maxMembers: number,
  ) => Promise<'inserted' | 'missing' | 'taken' | 'too_many_members'>;
  beginSession: ReturnType<typeof beginSession>;
  now: () => Date;
};

/** `email`: only for an invitation without one. `earlier`: the token that the browser sent, whose session ends. */
type AcceptInvitationInput = { token: string; email?: string | undefined; password: string; earlier: string | null };

const addressOf = (invited: string | null, given: string | undefined): string => {
  const email = invited ?? given;
  if (email === undefined) throw badRequest('email', 'email is required');
  if (given !== undefined && given !== email) throw badRequest('email', 'email is not the address that was invited');
  return email;
};

/**
 * Creates the user of an invitation, which ends it, and begins a session. Returns its token. Throws NOT_FOUND, BAD_REQUEST,
 * EMAIL_TAKEN, MEMBER_LIMIT, and TOO_MANY_SIGN_UPS after {@link TAKEN_ADDRESS_LIMIT}.
 */
export const acceptInvitation = ({
  tokens,
  reserve,
  takeBack,
  hashPassword,
  inTurn,
  insertMember,
  beginSession,
  now,
  ...deps
}: AcceptInvitationDeps) => {
  const find = getInvitation({ tokens, now, ...deps });
  return async ({ token, email: given, password, earlier }: AcceptInvitationInput): Promise<string> => {
    const { accountId, email: invited } = await find(token);
    const email = addressOf(invited, given);
    const at = now();
    const key = tokens.hashAddress(`\0invitations of\0${accountId}`);
    const refused = await reserve([{ key, tries: TAKEN_ADDRESS_LIMIT.tries }], at);
    if (refused.length > 0)
      throw new AppError('TOO_MANY_SIGN_UPS', {
        message: 'Too many taken addresses were tried with invitations of this account.',
        extra: { retry_after: secondsUntil(freeAt(refused), at, TAKEN_ADDRESS_LIMIT.windowMs) },
      });
    const passwordHash = await inTurn(accountId, () => hashPassword(password));
    const member = { id: newUuid(), email, passwordHash, now: now() };
    const outcome = await insertMember({ accountId, tokenHash: tokens.hash(token) }, member, MAX_MEMBERS);
    if (outcome === 'taken') throw new AppError('EMAIL_TAKEN');
    await takeBack([key], at);
    if (outcome === 'missing') throw endedInvitation();
    if (outcome === 'too_many_members') throw tooManyMembers();
    return beginSession(member, earlier);
  };
};
