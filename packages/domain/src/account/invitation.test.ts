import { attemptCounts, clock, codeOf, secrets } from './account.fixture.js';
import {
  acceptInvitation,
  INVITATION_LIFE_MS,
  invite,
  MAILED_INVITATION_LIMIT,
  type NewInvitation,
  TAKEN_ADDRESS_LIMIT,
} from './invitation.js';

const openAccount = ({ sendsMail = true } = {}) => {
  const { now, pass } = clock();
  const tokens = secrets();
  const counts = attemptCounts(TAKEN_ADDRESS_LIMIT.windowMs);
  const { reserve, takeBack } = attemptCounts(MAILED_INVITATION_LIMIT.windowMs);
  let pending: NewInvitation | null = null;
  const turns: string[] = [];
  const inviteNow = invite({
    tokens,
    tokenOf: async () => 'token 1',
    sendsMail,
    ...{ reserve, takeBack },
    insertInvitation: async (invitation) => {
      if (invitation.email?.startsWith('member')) return 'is_member';
      pending = invitation;
      return 'inserted';
    },
    baseUrl: () => 'https://vat.example',
    now,
  });
  const accept = acceptInvitation({
    tokens,
    findInvitation: async (hash) =>
      pending && tokens.hash('token 1').equals(hash) ? { ...pending, accountName: 'Müller' } : null,
    ...counts,
    hashPassword: async (password) => `hash of ${password}`,
    inTurn: (accountId, work) => {
      turns.push(accountId);
      return work();
    },
    insertMember: async (_invitation, { email }) => (email.startsWith('taken') ? 'taken' : 'inserted'),
    beginSession: async ({ passwordHash }) => `session with ${passwordHash}`,
    now,
  });
  const owner = { id: 'owner', email: 'owner@example.com' };
  return {
    inviteTo: (email: string | null) => inviteNow({ accountId: 'account', owner, email, role: 'auditor' }),
    stored: () => pending,
    turns,
    accept: (email?: string, token = 'token 1') => accept({ token, email, password: 'a few words', earlier: null }),
    now,
    pass,
  };
};

test.each([
  ['an address', 'new@example.com', true, true],
  ['no address', null, true, false],
  ['an address, without a mail server', 'new@example.com', false, false],
])('an invitation for %s is mailed or not', async (_what, email, sendsMail, isMailed) => {
  const { inviteTo, stored, now } = openAccount({ sendsMail });
  const invited = await inviteTo(email);
  expect(invited).toMatchObject({ email, isMailed, url: 'https://vat.example/app/invitation#token 1' });
  expect(invited.expiresAt).toEqual(new Date(now().getTime() + INVITATION_LIFE_MS));
  expect(stored()?.mailDueAt).toEqual(isMailed ? now() : null);
});

test('an account may have a bounded number of invitations mailed in a day; links are not counted', async () => {
  const { inviteTo, pass } = openAccount();
  for (let n = 0; n < MAILED_INVITATION_LIMIT.tries; n += 1) await inviteTo('new@example.com');
  expect(await codeOf(inviteTo('new@example.com'))).toBe('RATE_LIMITED');
  expect(await codeOf(inviteTo(null))).toBe(null);
  pass(MAILED_INVITATION_LIMIT.windowMs);
  expect(await codeOf(inviteTo('new@example.com'))).toBe(null);
});

test('an invitation that is refused does not count as a mailed one', async () => {
  const { inviteTo } = openAccount();
  for (let n = 0; n < MAILED_INVITATION_LIMIT.tries; n += 1)
    expect(await codeOf(inviteTo('member@example.com'))).toBe('EMAIL_TAKEN');
  expect(await codeOf(inviteTo('new@example.com'))).toBe(null);
});

test('an account may try a bounded number of taken addresses; accepting does not count', async () => {
  const { inviteTo, accept, turns, pass } = openAccount();
  await inviteTo(null);
  expect(await codeOf(accept('new@example.com', 'another token'))).toBe('NOT_FOUND');
  for (let n = 0; n < TAKEN_ADDRESS_LIMIT.tries - 1; n += 1)
    expect(await codeOf(accept('taken@example.com'))).toBe('EMAIL_TAKEN');
  expect(await accept('new@example.com')).toBe('session with hash of a few words');
  expect(turns).toEqual(Array.from({ length: TAKEN_ADDRESS_LIMIT.tries }, () => 'account'));
  expect(await codeOf(accept('taken@example.com'))).toBe('EMAIL_TAKEN');
  expect(await codeOf(accept('new@example.com'))).toBe('TOO_MANY_SIGN_UPS');
  pass(TAKEN_ADDRESS_LIMIT.windowMs);
  expect(await codeOf(accept('new@example.com'))).toBe(null);
});
