import { attemptCounts, clock, codeOf, secrets } from './account.fixture.js';
import {
  acceptInvitation,
  composeInvitation,
  type InvitationMail,
  invite,
  type NewInvitation,
  TAKEN_ADDRESS_LIMIT,
} from './invitation.js';

const openAccount = () => {
  const { now, pass } = clock();
  const tokens = secrets();
  const counts = attemptCounts(TAKEN_ADDRESS_LIMIT.windowMs);
  const mails: InvitationMail[] = [];
  let pending: NewInvitation | null = null;
  const inviteNow = invite({
    tokens,
    insertInvitation: async (invitation) => {
      pending = invitation;
      return 'inserted';
    },
    linkOf: (token) => `https://vat.example/app/invitation#${token}`,
    sendMail: (mail) => mails.push(mail),
    now,
  });
  const accept = acceptInvitation({
    tokens,
    findInvitation: async (hash) =>
      pending && tokens.hash('token 1').equals(hash) ? { ...pending, accountName: 'Müller' } : null,
    ...counts,
    hashPassword: async (password) => `hash of ${password}`,
    insertMember: async (_invitation, { email }) => (email.startsWith('taken') ? 'taken' : 'inserted'),
    beginSession: async ({ passwordHash }) => `session with ${passwordHash}`,
    now,
  });
  const owner = { id: 'owner', email: 'owner@example.com' };
  return {
    inviteTo: (email: string | null) =>
      inviteNow({ accountId: 'account', accountName: 'Müller', owner, email, role: 'auditor' }),
    accept: (email?: string, token = 'token 1') => accept({ token, email, password: 'a few words', earlier: null }),
    mails,
    pass,
  };
};

test('an invitation for an address is mailed with its link, one without an address is not', async () => {
  const { inviteTo, mails } = openAccount();
  const { url, expiresAt } = await inviteTo('new@example.com');
  await inviteTo(null);
  expect(mails).toEqual([
    composeInvitation('new@example.com', {
      ...{ accountName: 'Müller', invitedBy: 'owner@example.com', role: 'auditor', url, expiresAt },
    }),
  ]);
  expect(mails[0]?.text).toContain('join the account Müller as auditor');
  expect(mails[0]?.text).toContain(`\n${url}\n`);
});

test('an account may try a bounded number of taken addresses; accepting does not count', async () => {
  const { inviteTo, accept, pass } = openAccount();
  await inviteTo(null);
  expect(await codeOf(accept('new@example.com', 'another token'))).toBe('NOT_FOUND');
  for (let n = 0; n < TAKEN_ADDRESS_LIMIT.tries - 1; n += 1)
    expect(await codeOf(accept('taken@example.com'))).toBe('EMAIL_TAKEN');
  expect(await accept('new@example.com')).toBe('session with hash of a few words');
  expect(await codeOf(accept('taken@example.com'))).toBe('EMAIL_TAKEN');
  expect(await codeOf(accept('new@example.com'))).toBe('TOO_MANY_SIGN_UPS');
  pass(TAKEN_ADDRESS_LIMIT.windowMs);
  expect(await codeOf(accept('new@example.com'))).toBe(null);
});
