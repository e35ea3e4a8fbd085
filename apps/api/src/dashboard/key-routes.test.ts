import { uuidOf } from '@vat/domain';
import { issueKeys, startWorld, type TestAccount, until, type World } from '@vat/testkit';
import { type Browser, openSignedIn } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

type Shown = { key_id: string; name: string; hint: string; test: boolean; revoked_at: string | null };

let world: World;
let owner: Browser;
let other: Browser;
let otherAccount: TestAccount;
beforeAll(async () => {
  world = await startWorld({ workers: 0 });
  [, otherAccount] = await Promise.all([
    world.newAccount({ email: 'owner@example.com' }),
    world.newAccount({ email: 'other@example.com' }),
  ]);
  owner = await signedIn('owner@example.com');
  other = await signedIn('other@example.com');
});
afterAll(() => world?.stop());

const signedIn = (email: string) => openSignedIn(world.baseUrl(), email);
const create = async (browser: Browser, body: object): Promise<{ key_id: string; key: string }> => {
  const { status, body: created } = await browser.call('post', '/keys', body);
  expect([status, created]).toEqual([
    201,
    { key_id: expect.stringMatching(/^key_[0-7][0-9a-z]{25}$/), key: expect.stringMatching(/^vat_(live|test)_/) },
  ]);
  return created;
};
const list = async (browser: Browser, query = '?limit=100') => {
  const { body } = await browser.call('get', `/keys${query}`).expect(200);
  return body as { data: Shown[]; next_cursor: string | null };
};
const usage = async (key: string) => (await world.http(key).get('/v1/usage')).status;

test.each([
  [{ name: 'Shop', test: false }, 'vat_live_'],
  [{ name: 'Shop', test: true }, 'vat_test_'],
  [{ name: 'ERP “Zürich”' }, 'vat_live_'],
])('%j creates a key that works immediately and begins with %s', async (body, prefix) => {
  const { key } = await create(owner, body);
  expect(key.startsWith(prefix)).toBe(true);
  expect(await usage(key)).toBe(200);
});

test('the list shows name, hint and times of a key, newest first, and never the key', async () => {
  const { key, key_id } = await create(owner, { name: 'Listed', test: true });
  const before = await list(owner);
  expect(before.data[0]).toEqual({
    key_id,
    name: 'Listed',
    test: true,
    hint: key.slice(-4),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    last_used_at: null,
    revoked_at: null,
  });
  expect(JSON.stringify(before)).not.toContain(key);
  expect(await usage(key)).toBe(200);
  await until('its use to be noted', async () => {
    const [used] = (await list(owner)).data as unknown as [{ last_used_at: string | null }];
    return used.last_used_at !== null;
  });
});

test('a key is shown once: it is in no log, and only its hash is in the database', async () => {
  const { key } = await create(owner, { name: 'Secret' });
  await usage(key);
  const everything = `${await databaseText(world)}\n${logText(world)}`;
  expect(everything).toContain('Secret');
  for (const form of formsOf(key)) expect(everything.includes(form)).toBe(false);
});

test('the list has pages without repeats or gaps', async () => {
  const all = (await list(owner)).data.map(({ key_id }) => key_id);
  const paged: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: { data: Shown[]; next_cursor: string | null } = await list(
      owner,
      `?limit=2${cursor && `&cursor=${cursor}`}`,
    );
    expect(page.data.length).toBeLessThanOrEqual(2);
    paged.push(...page.data.map(({ key_id }) => key_id));
    cursor = page.next_cursor;
  }
  expect(all.length).toBeGreaterThan(3);
  expect(paged).toEqual(all);
});

test.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=nonsense', '?surprise=1'])(
  'GET /keys%s is 400',
  async (query) => {
    const { status, body } = await owner.call('get', `/keys${query}`);
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
  },
);

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: '  ' }, 'name'],
  [{ name: 5 }, 'name'],
  [{ name: 'n'.repeat(65) }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'A', test: 'yes' }, 'test'],
  [{ name: 'A', scope: 'all' }, 'scope'],
])('POST /keys %j is 400 and creates no key', async (body, path) => {
  const before = (await list(owner)).data.length;
  const { status, body: answer } = await owner.call('post', '/keys', body);
  expect([status, answer.error.code, answer.error.fields[0].path]).toEqual([400, 'BAD_REQUEST', path]);
  expect((await list(owner)).data.length).toBe(before);
});

test('a revoked key is refused within five seconds, stays in the list, and revoking it again does not change its time', async () => {
  const { key, key_id } = await create(owner, { name: 'Leaked' });
  expect(await usage(key)).toBe(200);
  const revoke = () => owner.call('delete', `/keys/${key_id}`);
  const revokedAt = async () => (await list(owner)).data.find((shown) => shown.key_id === key_id)?.revoked_at;
  const answer = await revoke();
  expect([answer.status, answer.text]).toEqual([204, '']);
  await until('the key to be refused', async () => (await usage(key)) === 401, 5_000);
  const first = await revokedAt();
  expect(first).toEqual(expect.any(String));
  expect((await revoke()).status).toBe(204);
  expect(await revokedAt()).toBe(first);
});

test('an account has at most 200 live keys, however many calls run concurrently; revoking one makes room', async () => {
  const live = (await list(other)).data.filter(({ revoked_at }) => revoked_at === null).length;
  await issueKeys(world, 199 - live, uuidOf('account', otherAccount.account_id) ?? '');
  const race = await Promise.all(Array.from({ length: 6 }, () => other.call('post', '/keys', { name: 'Raced' })));
  expect(race.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403]);
  const refused = race.find(({ status }) => status === 403);
  expect(refused?.body.error).toEqual({ code: 'KEY_LIMIT', message: expect.any(String), limit: 200 });

  const made = race.find(({ status }) => status === 201)?.body.key_id as string;
  await other.call('delete', `/keys/${made}`).expect(204);
  await create(other, { name: 'In its place' });
  expect((await other.call('post', '/keys', { name: 'Over' })).status).toBe(403);
});

test('of the revoked keys of an account the latest 1 000 stay', async () => {
  const { account_id } = await world.newAccount({ email: 'rotating@example.com' });
  const browser = await signedIn('rotating@example.com');
  await world.sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at, revoked_at)
     SELECT gen_random_uuid(), $1, 'revoked ' || n, false, sha256(convert_to(gen_random_uuid()::text, 'UTF8')), 'hint', now(), now() - n * interval '1 hour'
     FROM generate_series(1, 1003) AS n`,
    [uuidOf('account', account_id)],
  );
  await create(browser, { name: 'Next' });
  const names = (
    await world.sql<{ name: string }>('SELECT name FROM api_key WHERE account_id = $1', [uuidOf('account', account_id)])
  ).map(({ name }) => name);
  // Two live ones are those of the new account.
  expect(names).toHaveLength(1_000 + 3);
  expect(names.filter((name) => ['revoked 1000', 'revoked 1001'].includes(name))).toEqual(['revoked 1000']);
});
