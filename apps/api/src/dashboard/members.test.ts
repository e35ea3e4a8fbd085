import { readFileSync } from 'node:fs';
import { accessOf, DASHBOARD_OPERATIONS, type DashboardOperation, OPERATIONS, type Operation } from '@vat/contracts';
import { ID_PREFIXES, INVITATION_LIFE_MS, MAX_INVITATIONS, MAX_MEMBERS } from '@vat/domain';
import { configureWebhook, insertMember, startWorld, until, type World } from '@vat/testkit';
import { openRaw } from '../raw-connection.fixture.js';
import { type Browser, openBrowser, openSignedIn, PASSWORD, setCookieOf } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

const OWNER = 'owner@example.com';
const AUDITOR = 'auditor@example.com';
const NO_ID = '01h45ytscbebyvny4gc8cr8ma2';

/** Every call of a session, as it is mounted: the method, the path below /app/api with an unknown id, and what it does. */
const CALLS = [
  ...Object.values<Operation>(OPERATIONS).filter(({ dashboard, key }) => dashboard !== false && key !== false),
  ...Object.values<DashboardOperation>(DASHBOARD_OPERATIONS),
].map((operation: (Operation | DashboardOperation) & { id?: keyof typeof ID_PREFIXES }) => ({
  method: operation.method,
  path: operation.path
    .replace(/^\/(v1|app\/api)/, '')
    .replace('{id}', `${operation.id === undefined ? 'usr' : ID_PREFIXES[operation.id]}_${NO_ID}`),
  access: accessOf(operation),
}));
const callsThat = (...does: string[]) => CALLS.filter(({ access }) => does.includes(access));

let world: World;
let owner: Browser;
let auditor: Browser;
let made = 0;
beforeAll(async () => {
  world = await startWorld({ workers: 0 });
  await world.newAccount({ email: OWNER, name: 'Müller & Söhne' });
  await insertMember(world, { of: OWNER, email: AUDITOR, role: 'auditor' });
  [owner, auditor] = await Promise.all([signedIn(OWNER), signedIn(AUDITOR)]);
});
afterAll(() => world?.stop());

const signedIn = (email: string) => openSignedIn(world.baseUrl(), email);
const visitor = () => openBrowser(world.baseUrl());
const newEmail = (): string => {
  made += 1;
  return `member${made}@example.com`;
};
/** A new account with its owner and another user, both signed in. */
const openAccount = async (role: string) => {
  const emails = { owner: newEmail(), other: newEmail() };
  const { account_id: accountId } = await world.newAccount({ email: emails.owner });
  await insertMember(world, { of: emails.owner, email: emails.other, role });
  const [by, other] = await Promise.all([signedIn(emails.owner), signedIn(emails.other)]);
  const { body } = await by.call('get', '/members').expect(200);
  const idOf = (email: string): string =>
    body.members.find((member: { email: string }) => member.email === email)?.user_id;
  return {
    by,
    other,
    emails,
    accountId,
    ownPath: `/members/${idOf(emails.owner)}`,
    otherPath: `/members/${idOf(emails.other)}`,
  };
};
const invite = async (by: Browser, body: object): Promise<{ invitation_id: string; token: string; url: string }> => {
  const answer = await by.call('post', '/invitations', body).expect(201);
  return { ...answer.body, token: String(answer.body.url.split('#')[1]) };
};
const accept = (body: object, by = visitor()) => by.call('post', '/invitation/accept', body);

describe('an auditor', () => {
  test.each(callsThat('change', 'manage'))('may not $method $path', async ({ method, path }) => {
    const { status, body } = await auditor.call(method, path, {});
    expect([status, body.error]).toEqual([
      403,
      { code: 'FORBIDDEN', message: 'An auditor reads everything and changes nothing.' },
    ]);
  });

  test.each(callsThat('read').filter(({ path }) => path !== '/news'))('may $method $path', async ({ method, path }) => {
    const { status } = await auditor.call(method, path);
    expect([200, 404]).toContain(status);
  });

  test('may receive page updates', async () => {
    const answer = await fetch(`${world.baseUrl()}/app/api/news`, { headers: { Cookie: auditor.cookie } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await answer.body?.cancel();
  });

  test('changes its own password and ends its own sessions', async () => {
    const { other, emails } = await openAccount('auditor');
    const change = { current_password: PASSWORD, new_password: 'a few other words' };
    await other.call('put', '/password', change).expect(204);
    await other.signIn(emails.other, change.new_password);
    await other.call('delete', '/session').expect(204);
    await other.signIn(emails.other, change.new_password);
    await other.call('delete', '/sessions').expect(204);
    expect((await other.call('get', '/session')).status).toBe(401);
  });
});

test('every operation has its role from this list alone, and is described', () => {
  const own = callsThat('own').map(({ method, path }) => `${method} ${path}`);
  expect(own).toEqual(['delete /session', 'delete /sessions', 'put /password', 'patch /notifications']);
  expect(callsThat('change', 'manage').length).toBeGreaterThan(15);
  const guide = readFileSync(new URL('../../../../docs/dashboard-api.md', import.meta.url), 'utf8');
  const described = Object.values<DashboardOperation>(DASHBOARD_OPERATIONS).map(
    ({ method, path }) => `\`${method.toUpperCase()} ${path}`,
  );
  expect(described.filter((call) => !guide.includes(call))).toEqual([]);
});

test('a member changes everything but the members', async () => {
  const { other, ownPath } = await openAccount('member');
  await other.call('post', '/keys', { name: 'Shop' }).expect(201);
  for (const { method, path } of callsThat('manage')) {
    const { status, body } = await other.call(method, path, {});
    expect([status, body.error?.code]).toEqual([403, 'FORBIDDEN']);
  }
  expect((await other.call('delete', ownPath)).status).toBe(403);
  const { body } = await other.call('get', '/members').expect(200);
  expect(body.members).toHaveLength(2);
});

test('a link invites once: the invited person chooses address and password and is signed in with the role', async () => {
  const { by, emails } = await openAccount('auditor');
  const email = newEmail();
  const answer = await by.call('post', '/invitations', { role: 'member' }).expect(201);
  const pending = {
    invitation_id: expect.stringMatching(/^inv_/),
    email: null,
    role: 'member',
    invited_by: emails.owner,
    created_at: expect.any(String),
    expires_at: expect.any(String),
  };
  const url = new RegExp(`^${world.baseUrl()}/app/invitation#[\\w-]{24}$`);
  expect(answer.body).toEqual({ ...pending, url: expect.stringMatching(url), mailed: false });
  expect(Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at)).toBe(INVITATION_LIFE_MS);
  const [, token = ''] = answer.body.url.split('#');
  const listed = await by.call('get', '/members').expect(200);
  expect(listed.body.invitations).toEqual([pending]);

  const invited = visitor();
  const { body: shown } = await invited.call('post', '/invitation', { token }).expect(200);
  expect(shown).toEqual({ account_name: 'Test', email: null, role: 'member', expires_at: answer.body.expires_at });
  expect((await accept({ token, password: 'a few words are good' })).body.error.fields).toEqual([
    { path: 'email', message: 'email is required' },
  ]);
  expect((await accept({ token, email, password: 'too short' })).status).toBe(400);
  const race = await Promise.all(
    [email, newEmail()].map((address) => accept({ token, email: address, password: 'a few words are good' })),
  );
  expect(race.map(({ status }) => status).sort()).toEqual([201, 404]);
  const joined = race.find(({ status }) => status === 201);
  expect(joined?.body.account).toMatchObject({ name: 'Test', role: 'member' });
  invited.cookie = setCookieOf(joined ?? answer).split(';')[0] ?? '';
  invited.csrf = joined?.body.csrf_token;
  await invited.call('post', '/keys', { name: 'Shop' }).expect(201);

  const after = (await by.call('get', '/members').expect(200)).body;
  expect(after.invitations).toEqual([]);
  expect(after.members.at(-1)).toEqual({
    user_id: expect.stringMatching(/^usr_/),
    email: joined?.body.account.email,
    role: 'member',
    joined_at: expect.any(String),
    last_seen_at: expect.any(String),
  });
  expect((await visitor().call('post', '/invitation', { token })).status).toBe(404);
});

test('the token of an invitation is in no table and no log', async () => {
  const { token } = await invite(owner, { role: 'auditor' });
  await visitor().call('post', '/invitation', { token }).expect(200);
  const everything = `${await databaseText(world)}\n${logText(world)}`;
  for (const form of formsOf(token)) expect(everything.includes(form)).toBe(false);
});

test('an invitation for an address is for that address, and the next one replaces it', async () => {
  const { by } = await openAccount('auditor');
  const email = newEmail();
  const first = await invite(by, { email: ` ${email.toUpperCase()} `, role: 'auditor' });
  const second = await invite(by, { email, role: 'member' });
  const password = 'a few words are good';
  expect((await accept({ token: first.token, password })).status).toBe(404);
  expect((await accept({ token: second.token, email: newEmail(), password })).body.error.fields).toEqual([
    { path: 'email', message: 'email is not the address that was invited' },
  ]);
  const answer = await accept({ token: second.token, password }).expect(201);
  expect(answer.body.account).toMatchObject({ email, role: 'member' });
});

test('a revoked or expired invitation is 404, and is not listed', async () => {
  const { by } = await openAccount('auditor');
  const [revoked, expired] = [await invite(by, { role: 'member' }), await invite(by, { role: 'member' })];
  await by.call('delete', `/invitations/${revoked.invitation_id}`).expect(204);
  expect((await by.call('delete', `/invitations/${revoked.invitation_id}`)).status).toBe(404);
  await world.sql('UPDATE invitation SET expires_at = now() WHERE token_hash = sha256($1::text::bytea)', [
    expired.token,
  ]);
  for (const { token } of [revoked, expired]) {
    for (const answer of [
      await visitor().call('post', '/invitation', { token }),
      await accept({ token, email: newEmail(), password: 'a few words are good' }),
    ])
      expect([answer.status, answer.body.error.code]).toEqual([404, 'NOT_FOUND']);
  }
  expect((await by.call('get', '/members')).body.invitations).toEqual([]);
});

test('an address that a user has is refused: at once for a member, otherwise when the invitation is accepted', async () => {
  const { by, emails } = await openAccount('auditor');
  const refused = await by.call('post', '/invitations', { email: emails.other, role: 'member' });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'EMAIL_TAKEN']);
  const { token } = await invite(by, { role: 'member' });
  const password = 'a few words are good';
  const taken = await accept({ token, email: OWNER, password });
  expect([taken.status, taken.body.error.code, setCookieOf(taken)]).toEqual([409, 'EMAIL_TAKEN', '']);
  await accept({ token, email: newEmail(), password }).expect(201);
});

test('another role and a removal are effective with the next call of an open session', async () => {
  const { by, other, otherPath, emails } = await openAccount('member');
  const createKey = async () => (await other.call('post', '/keys', { name: 'Shop' })).status;
  expect(await createKey()).toBe(201);
  await by.call('patch', otherPath, { role: 'auditor' }).expect(204);
  expect(await createKey()).toBe(403);
  expect((await other.call('get', '/session')).body.account.role).toBe('auditor');
  await by.call('patch', otherPath, { role: 'owner' }).expect(204);
  await other.call('post', '/invitations', { role: 'owner' }).expect(201);
  await by.call('delete', otherPath).expect(204);
  expect(await createKey()).toBe(401);
  expect((await other.signIn(emails.other)).status).toBe(401);
  // A removed owner has no way back.
  expect((await by.call('get', '/members')).body.invitations).toEqual([]);
});

test('a member who is removed while a call waits for events gets none', async () => {
  const { by, other, otherPath, accountId } = await openAccount('member');
  await configureWebhook(world, { account_id: accountId }, 'https://127.0.0.1:1/');
  const waiting = other.call('get', '/events?after=start&wait=20').then(({ status }) => status);
  await by.call('delete', otherPath).expect(204);
  await by.call('post', '/webhook/test').expect(202);
  expect(await waiting).toBe(401);
});

test.each([
  ['removed', null, 401],
  ['demoted', { role: 'auditor' }, 403],
] as const)('the body of a member who is %s while it arrives changes nothing', async (_what, change, status) => {
  const { by, other, otherPath } = await openAccount('member');
  const body = JSON.stringify({ name: 'Shop' });
  const connection = await openRaw(world.baseUrl());
  connection.send(
    [
      'POST /app/api/keys HTTP/1.1',
      `Host: ${new URL(world.baseUrl()).host}`,
      `Cookie: ${other.cookie}`,
      `X-CSRF-Token: ${other.csrf}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  );
  await until('the word to go on', () => connection.text().startsWith('HTTP/1.1 100 '));
  await (change ? by.call('patch', otherPath, change) : by.call('delete', otherPath)).expect(204);
  connection.send(body);
  await until('the answer', () => connection.text().includes('X-Request-Id'));
  connection.close();
  expect(connection.text()).toContain(`HTTP/1.1 ${status} `);
  expect((await by.call('get', '/keys').expect(200)).body.data.map(({ name }: { name: string }) => name)).not.toContain(
    'Shop',
  );
});

test('the last owner is neither removed nor demoted', async () => {
  const { by, other, ownPath, otherPath } = await openAccount('auditor');
  const demote = { role: 'member' };
  for (const answer of [await by.call('patch', ownPath, demote), await by.call('delete', ownPath)])
    expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_OWNER']);
  await by.call('patch', otherPath, { role: 'owner' }).expect(204);
  await by.call('patch', ownPath, demote).expect(204);
  expect((await by.call('patch', ownPath, { role: 'owner' })).status).toBe(403);
  expect((await other.call('delete', otherPath)).body.error.code).toBe('LAST_OWNER');
});

test(`an account has at most ${MAX_MEMBERS} members and ${MAX_INVITATIONS} pending invitations`, async () => {
  const { by, emails } = await openAccount('auditor');
  const open = await invite(by, { role: 'member' });
  const of = `FROM app_user, generate_series(3, ${MAX_MEMBERS}) AS n WHERE app_user.email = $1`;
  await world.sql(
    `INSERT INTO invitation (id, account_id, invited_by, token_hash, role, created_at, expires_at)
     SELECT gen_random_uuid(), account_id, app_user.id, sha256((n || $1::text)::bytea), 'member', now(), now() + interval '1 h'
     FROM app_user, generate_series(2, ${MAX_INVITATIONS}) AS n WHERE app_user.email = $1`,
    [emails.owner],
  );
  const tooMany = await by.call('post', '/invitations', { role: 'member' });
  expect([tooMany.status, tooMany.body.error]).toEqual([
    403,
    { code: 'MEMBER_LIMIT', message: 'The account has 100 pending invitations already.', limit: MAX_INVITATIONS },
  ]);
  await world.sql(
    `INSERT INTO app_user (id, account_id, email, password_hash, role, created_at)
     SELECT gen_random_uuid(), account_id, n || app_user.email, 'x', 'member', now() ${of}`,
    [emails.owner],
  );
  const full = [
    await by.call('post', '/invitations', { role: 'member' }),
    await accept({ token: open.token, email: newEmail(), password: 'a few words are good' }),
  ];
  for (const { status, body } of full)
    expect([status, body.error]).toEqual([
      403,
      { code: 'MEMBER_LIMIT', message: 'The account has 100 members already.', limit: MAX_MEMBERS },
    ]);
});
