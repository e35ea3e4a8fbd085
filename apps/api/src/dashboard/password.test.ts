import { openWorldRedis, startWorld, type World } from '@vat/testkit';
import { type Browser, openBrowser, openSignedIn, PASSWORD, setCookieOf } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

const WANTED = 'a few words are good';

let world: World;
let made = 0;
beforeAll(async () => {
  world = await startWorld({ workers: 0, apis: 2 });
  await world.newAccount({ email: 'first@example.com' });
});
afterAll(() => world?.stop());

const addressOf = (api: number) => String(world.apis[api]?.ready.base_url);
const browser = (api = 0): Browser => openBrowser(addressOf(api));
/** A separate user for each test; creating a user is faster than creating an account. */
const newUser = async (): Promise<string> => {
  made += 1;
  const email = `user${made}@example.com`;
  await world.sql(
    `INSERT INTO app_user (id, account_id, email, password_hash, created_at)
     SELECT gen_random_uuid(), account_id, $1, password_hash, now() FROM app_user WHERE email = 'first@example.com'`,
    [email],
  );
  return email;
};
const signedIn = (email: string, api = 0) => openSignedIn(addressOf(api), email);
const change = (by: Browser, current: string, wanted: string) =>
  by.call('put', '/password', { current_password: current, new_password: wanted });
const isIn = async (by: Browser) => (await by.call('get', '/session')).status === 200;

test('a new password replaces the old one, ends every other session on every process, and renews this one', async () => {
  const email = await newUser();
  const [here, elsewhere, bystander] = [
    await signedIn(email),
    await signedIn(email, 1),
    await signedIn('first@example.com'),
  ];
  const { cookie: earlier, csrf } = here;
  const answer = await change(here, PASSWORD, WANTED);
  expect([answer.status, answer.text]).toEqual([204, '']);
  here.cookie = setCookieOf(answer).split(';')[0] ?? '';
  expect(setCookieOf(answer)).toMatch(/HttpOnly; SameSite=Lax$/);
  expect(here.cookie).not.toBe(earlier);
  expect([await isIn(here), await isIn(elsewhere), await isIn(bystander)]).toEqual([true, false, true]);
  const session = (await here.call('get', '/session').expect(200)).body;
  expect(session.csrf_token).not.toBe(csrf);
  here.cookie = earlier;
  expect(await isIn(here)).toBe(false);
  expect((await browser().signIn(email)).status).toBe(401);
  expect((await browser().signIn(email, WANTED)).status).toBe(200);
});

test('a wrong current password is 400 at its field, and the session stays valid', async () => {
  const by = await signedIn(await newUser());
  const { status, body } = await change(by, 'wrong', WANTED);
  expect([status, body.error.code, body.error.fields]).toEqual([
    400,
    'BAD_REQUEST',
    [{ path: 'current_password', message: 'current_password is not your password' }],
  ]);
  expect(await isIn(by)).toBe(true);
});

test('wrong passwords are limited as at sign-in, over all processes, then also the right one; signing in is not affected', async () => {
  const email = await newUser();
  const by = await signedIn(email);
  const there = browser(1);
  Object.assign(there, { cookie: by.cookie, csrf: by.csrf });
  for (let i = 0; i < 5; i += 1) expect((await change(i % 2 ? by : there, 'wrong', WANTED)).status).toBe(400);
  const { status, body, headers } = await change(there, PASSWORD, WANTED);
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_SIGN_INS']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(800);
  expect((await browser().signIn(email)).status).toBe(200);
  expect((await browser().signIn(email, WANTED)).status).toBe(401);
});

test('failed sign-ins of strangers do not prevent the user from changing the password', async () => {
  const email = await newUser();
  const by = await signedIn(email);
  for (let i = 0; i < 6; i += 1) await browser().signIn(email, 'wrong');
  expect((await change(by, PASSWORD, WANTED)).status).toBe(204);
});

test.each([
  [{}, ['current_password', 'new_password']],
  [{ current_password: PASSWORD, new_password: 'eleven char' }, ['new_password']],
  [{ current_password: PASSWORD, new_password: 'p'.repeat(1_025) }, ['new_password']],
  [{ current_password: PASSWORD, new_password: PASSWORD }, ['new_password']],
  [{ current_password: '', new_password: WANTED }, ['current_password']],
  [{ current_password: PASSWORD, new_password: WANTED, user_id: 'usr_x' }, ['user_id']],
])('%j is 400 with the fields to correct', async (body, fields) => {
  const by = await signedIn('first@example.com');
  const answer = await by.call('put', '/password', body).expect(400);
  expect(answer.body.error.fields.map(({ path }: { path: string }) => path).sort()).toEqual(fields);
});

test('of concurrent changes one wins, and one session remains', async () => {
  const email = await newUser();
  const by = await signedIn(email);
  const race = await Promise.all([0, 1, 2].map((n) => change(by, PASSWORD, `${WANTED} ${n}`)));
  const won = race.filter(({ status }) => status === 204);
  expect(won).toHaveLength(1);
  const sessions = await world.sql(
    'SELECT s.id FROM session s JOIN app_user u ON u.id = s.user_id WHERE u.email = $1',
    [email],
  );
  expect(sessions).toHaveLength(1);
});

test('no session of the old password survives the change, however the calls interleave', async () => {
  for (let round = 0; round < 5; round += 1) {
    const email = await newUser();
    const by = await signedIn(email);
    const intruders = [browser(1), browser(1), browser(0)];
    const [changed] = await Promise.all([
      change(by, PASSWORD, WANTED),
      ...intruders.map((intruder) => intruder.signIn(email)),
    ]);
    expect(changed.status).toBe(204);
    for (const intruder of intruders) expect(await isIn(intruder)).toBe(false);
  }
});

test('signing out everywhere ends every session of the user, this one too, and nobody else’s', async () => {
  const email = await newUser();
  const [here, elsewhere, bystander] = [
    await signedIn(email),
    await signedIn(email, 1),
    await signedIn('first@example.com'),
  ];
  const answer = await here.call('delete', '/sessions');
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(setCookieOf(answer)).toMatch(/^vat_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
  expect([await isIn(here), await isIn(elsewhere), await isIn(bystander)]).toEqual([false, false, true]);
});

test('neither password is in the database, in Redis or in a log', async () => {
  const by = await signedIn(await newUser());
  await change(by, 'a guess that is wrong', WANTED).expect(400);
  await change(by, PASSWORD, WANTED).expect(204);
  const redis = await openWorldRedis(world);
  const everything = `${await databaseText(world)}\n${logText(world)}\n${await redis.text()}`;
  redis.close();
  for (const secret of ['a guess that is wrong', WANTED, PASSWORD]) {
    for (const form of formsOf(secret)) expect(everything.includes(form)).toBe(false);
  }
});
