import { createHash, randomBytes } from 'node:crypto';
import { uuidOf } from '@vat/domain';
import { allThreadsMs, startWorld, type TestProcess, type World } from '@vat/testkit';
import supertest from 'supertest';
import { openBrowser, openSignedIn, PASSWORD, setCookieOf } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

const EMAIL = 'owner@example.com';
const OTHER_EMAIL = 'other@example.com';

let world: World;
let accountId: string;
let otherAccountId: string;
beforeAll(async () => {
  world = await startWorld({ workers: 0 });
  const accounts = await Promise.all([EMAIL, OTHER_EMAIL].map((email) => world.newAccount({ name: 'Owner', email })));
  [accountId = '', otherAccountId = ''] = accounts.map(({ account_id }) => account_id);
});
afterAll(() => world?.stop());

const browser = () => openBrowser(world.baseUrl());
const signedIn = (email = EMAIL) => openSignedIn(world.baseUrl(), email);
const tokenOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1);
const randomToken = () => randomBytes(32).toString('base64url');
const sessionIs = async (cookie: string) =>
  (await supertest(world.baseUrl()).get('/app/api/session').set('Cookie', cookie)).status;

test('signing in answers the CSRF token and the account, and GET answers the same', async () => {
  const opened = browser();
  const answer = await opened.signIn(EMAIL);
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      csrf_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      account: {
        account_id: accountId,
        name: 'Owner',
        email: EMAIL,
        role: 'owner',
        plan: 'business',
        allowance: { checks_per_month: 20_000, watches: 1_000, frequencies: ['weekly', 'daily'] },
        disabled: false,
      },
    },
  ]);
  expect((await opened.call('get', '/session').expect(200)).body).toEqual(answer.body);
});

test.each(['OWNER@Example.com', '  owner@example.com '])('the address may be written %j', async (email) => {
  expect((await browser().signIn(email)).status).toBe(200);
});

test('a disabled account can sign in and is shown as disabled', async () => {
  const disable = (at: Date | null) =>
    world.sql('UPDATE account SET disabled_at = $2 WHERE id = $1', [uuidOf('account', otherAccountId), at]);
  await disable(new Date());
  expect((await browser().signIn(OTHER_EMAIL)).body.account.disabled).toBe(true);
  await disable(null);
});

describe('a wrong sign-in', () => {
  test('is the same 401 for an unknown address and for a wrong password, without a cookie', async () => {
    const wrong = await browser().signIn(OTHER_EMAIL, 'wrong');
    const unknown = await browser().signIn('nobody@example.com', PASSWORD);
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
    const names = ({ headers }: supertest.Response) => Object.keys(headers).sort();
    expect(names(unknown)).toEqual(names(wrong));
    expect([setCookieOf(wrong), setCookieOf(unknown)]).toEqual(['', '']);
  });

  test('takes as long for an unknown address: a password hash is verified there too', async () => {
    // What the API computes, not what the call takes: on a busy machine the latter is mostly waiting.
    const computed = async (emails: string[]) => {
      const { pid } = world.apis[0] as TestProcess;
      const before = allThreadsMs(pid);
      for (const email of emails) expect((await browser().signIn(email, 'wrong')).status).toBe(401);
      return allThreadsMs(pid) - before;
    };
    const [first = '', ...known] = Array.from({ length: 8 }, (_, n) => `timed${n}@example.com`);
    await world.sql(
      `INSERT INTO app_user SELECT gen_random_uuid(), account_id, added, password_hash, now()
       FROM app_user, unnest($1::text[]) AS added WHERE email = $2`,
      [[first, ...known], EMAIL],
    );
    // The first ones compile code.
    await computed([first, `un${first}`]);
    const [ofKnown, ofUnknown] = [await computed(known), await computed(known.map((email) => `un${email}`))];
    // A refusal without a hash computes four tenths of it at most.
    expect(ofUnknown).toBeGreaterThan(ofKnown * 0.6);
    expect(ofKnown).toBeGreaterThan(ofUnknown * 0.6);
  });

  test.each([
    [{}, ['email', 'password']],
    [{ email: EMAIL }, ['password']],
    [{ email: EMAIL, password: '' }, ['password']],
    [{ email: 5, password: PASSWORD }, ['email']],
    [{ email: '', password: PASSWORD }, ['email']],
    [{ email: 'a\u0000b', password: PASSWORD }, ['email']],
    [{ email: 'a'.repeat(321), password: PASSWORD }, ['email']],
    [{ email: EMAIL, password: 'p'.repeat(1_025) }, ['password']],
    [{ email: EMAIL, password: PASSWORD, remember: true }, ['remember']],
  ])('with a bad body (%#) is 400 with the fields to correct', async (body, fields) => {
    const { status, body: answer } = await browser().call('post', '/session', body);
    expect([status, answer.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(answer.error.fields.map(({ path }: { path: string }) => path).sort()).toEqual(fields);
  });

  test('sent as a form, as another site could do without preflight, is 400', async () => {
    const { status } = await supertest(world.baseUrl())
      .post('/app/api/session')
      .set('Content-Type', 'text/plain')
      .send(JSON.stringify({ email: EMAIL, password: PASSWORD }));
    expect(status).toBe(400);
  });
});

/** The address of a process whose BASE_URL is different. */
const addressOf = (api: TestProcess): string => `http://127.0.0.1:${String(api.ready.port)}`;

describe('the origin of a call', () => {
  const from = (origin: string, baseUrl = world.baseUrl()) =>
    supertest(baseUrl).post('/app/api/session').set('Origin', origin).send({ email: EMAIL, password: PASSWORD });

  test.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'nonsense'])(
    '%s is refused with 403',
    async (origin) => {
      const answer = await from(origin);
      expect([answer.status, answer.body.error.code, setCookieOf(answer)]).toEqual([403, 'FORBIDDEN', '']);
    },
  );

  test('that is our own is accepted, by Host or by BASE_URL', async () => {
    expect((await from(world.baseUrl())).status).toBe(200);
    const named = await world.startApi({ BASE_URL: 'http://vat.example.com' });
    expect((await from('http://vat.example.com', addressOf(named))).status).toBe(200);
    await named.stop();
  });

  test('of another site cannot change anything, even with the token', async () => {
    const opened = await signedIn();
    const answer = await opened.call('delete', '/session').set('Origin', 'https://evil.example');
    expect(answer.status).toBe(403);
    expect(await sessionIs(opened.cookie)).toBe(200);
  });
});

describe('the cookie', () => {
  test('over http is HttpOnly, SameSite, of the whole host, and not Secure, which browsers would refuse', async () => {
    const parts = setCookieOf(await browser().signIn(EMAIL)).split('; ');
    expect(parts[0]).toMatch(/^vat_session=[A-Za-z0-9_-]{43}$/);
    expect(parts).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Max-Age=604800']));
    expect(parts.join()).not.toMatch(/Secure|Domain/i);
  });

  test('with an https BASE_URL is Secure and bound to the host by its name', async () => {
    const api = await world.startApi({ BASE_URL: 'https://vat.example.com/' });
    const opened = openBrowser(addressOf(api));
    const parts = setCookieOf(await opened.signIn(EMAIL)).split('; ');
    expect(parts[0]).toMatch(/^__Host-vat_session=[A-Za-z0-9_-]{43}$/);
    expect(parts).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Secure']));
    expect(parts.join()).not.toMatch(/Domain/i);
    expect((await opened.call('get', '/session')).status).toBe(200);
    opened.cookie = opened.cookie.replace('__Host-', '');
    expect((await opened.call('get', '/session')).status).toBe(401);
    await api.stop();
  });

  test.each(['', 'vat_session=', 'vat_session=short', `vat_session=${'a'.repeat(44)}`, `other=${'a'.repeat(43)}`])(
    '%j is no session: 401',
    async (cookie) => expect(await sessionIs(cookie)).toBe(401),
  );

  test('is found among others', async () => {
    const { cookie } = await signedIn();
    expect(await sessionIs(`a=b; ${cookie}; c=d`)).toBe(200);
    expect(await sessionIs(`x${cookie}`)).toBe(401);
  });
});

describe('a session', () => {
  test('set before signing in is not used: an attacker who set it gains nothing', async () => {
    const victim = browser();
    const planted = `vat_session=${randomToken()}`;
    victim.cookie = planted;
    expect((await victim.signIn(EMAIL)).status).toBe(200);
    expect(victim.cookie).not.toBe(planted);
    expect([await sessionIs(victim.cookie), await sessionIs(planted)]).toEqual([200, 401]);
  });

  test('is a new one after signing in again, and the earlier one has ended', async () => {
    const opened = await signedIn();
    const { cookie: earlier, csrf } = opened;
    await opened.signIn(OTHER_EMAIL);
    expect(opened.cookie).not.toBe(earlier);
    expect(opened.csrf).not.toBe(csrf);
    expect([await sessionIs(opened.cookie), await sessionIs(earlier)]).toEqual([200, 401]);
  });

  test('survives a wrong sign-in', async () => {
    const opened = await signedIn();
    expect((await opened.signIn('survivor@example.com', 'wrong')).status).toBe(401);
    expect(await sessionIs(opened.cookie)).toBe(200);
  });

  test('is valid on every process, and ends on all of them when the user signs out', async () => {
    const second = await world.startApi();
    const opened = await signedIn();
    const elsewhere = openBrowser(String(second.ready.base_url));
    elsewhere.cookie = opened.cookie;
    const there = () => elsewhere.call('get', '/session');
    expect((await there()).body.csrf_token).toBe(opened.csrf);

    const out = await opened.call('delete', '/session');
    expect([out.status, out.text]).toEqual([204, '']);
    expect(setCookieOf(out)).toMatch(/^vat_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
    expect([await sessionIs(opened.cookie), (await there()).status]).toEqual([401, 401]);
    await second.stop();
  });

  test('ends without ending the other sessions of its user', async () => {
    const [one, two] = [await signedIn(), await signedIn()];
    await one.call('delete', '/session').expect(204);
    expect(await sessionIs(two.cookie)).toBe(200);
  });

  test('is stored only as the SHA-256 of its token; no token, password or CSRF token is stored or logged', async () => {
    const opened = await signedIn();
    const token = tokenOf(opened.cookie);
    const hash = createHash('sha256').update(token).digest('hex');
    const [row] = await world.sql<{ n: number }>(
      "SELECT count(*)::int AS n FROM session WHERE encode(id, 'hex') = $1",
      [hash],
    );
    expect(row?.n).toBe(1);
    const everything = `${await databaseText(world)}\n${logText(world)}`;
    expect(everything).toContain(hash);
    for (const secret of [token, opened.csrf, PASSWORD]) {
      for (const form of formsOf(secret)) expect(everything.includes(form)).toBe(false);
    }
  });

  const moments = async (token: string) => {
    const [row] = await world.sql<{ idle: number; age: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 AS idle, extract(epoch FROM expires_at - created_at)::float8 AS age
       FROM session WHERE id = sha256($1::bytea)`,
      [Buffer.from(token)],
    );
    return row ?? { idle: Number.NaN, age: Number.NaN };
  };
  const later = (token: string, hours: number) =>
    world.sql(
      `UPDATE session SET created_at = created_at - $2 * interval '1 hour', last_seen_at = last_seen_at - $2 * interval '1 hour',
         expires_at = expires_at - $2 * interval '1 hour' WHERE id = sha256($1::bytea)`,
      [Buffer.from(token), hours],
    );

  test('ends when it is not used for SESSION_IDLE, and each use puts that off', async () => {
    const { cookie } = await signedIn();
    const token = tokenOf(cookie);
    for (let i = 0; i < 2; i += 1) {
      await later(token, 11.9);
      expect(await sessionIs(cookie)).toBe(200);
      expect(Math.round((await moments(token)).idle / 3_600)).toBe(12);
    }
    await later(token, 12.1);
    expect(await sessionIs(cookie)).toBe(401);
  });

  test('ends after SESSION_MAX_AGE, however much it is used', async () => {
    const { cookie } = await signedIn();
    const token = tokenOf(cookie);
    for (let hours = 0; hours < 160; hours += 10) {
      await later(token, 10);
      expect(await sessionIs(cookie)).toBe(200);
    }
    expect((await moments(token)).age).toBeCloseTo(168 * 3_600, 0);
    await later(token, 9);
    expect(await sessionIs(cookie)).toBe(401);
  });
});
