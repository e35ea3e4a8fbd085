import { createHash } from 'node:crypto';
import { publicVerificationSchema } from '@vat/contracts';
import { newUuid, openText, PUBLIC_LINK_SEAL, publicId, publicLinks, type StoredId, uuidOf } from '@vat/domain';
import { runProgram, startWorld, type TestProcess, until, type World } from '@vat/testkit';

let world: World;
let live: ReturnType<World['http']>;
beforeAll(async () => {
  world = await startWorld({ apis: 2, settings: { ANCHOR_EVERY: '1h', TRUSTED_PROXIES: '127.0.0.1' } });
  live = world.http();
});
afterAll(() => world?.stop());

let calls = 0;
/** Calls without a key, each from another network, since the calls of a network are limited. */
const visitor = {
  get: (path: string) => {
    calls += 1;
    return world
      .http(null)
      .get(path)
      .set('X-Forwarded-For', `203.0.113.${calls % 250}`);
  },
};

type Check = { id: string; response_hash: string; checked_at: string };
const newCheck = async (vatNumber: string, http = live): Promise<Check> =>
  (await http.post('/v1/checks', { vat_number: vatNumber, reference: 'order-7' }).expect(201)).body;

/** The path of a check's public link. */
const linkOf = async (id: string, http = live): Promise<string> => {
  const { body } = await http.get(`/v1/checks/${id}/link`).expect(200);
  expect(Object.keys(body)).toEqual(['url']);
  expect(body.url).toMatch(new RegExp(`^${world.baseUrl()}/verify/${id}\\.[\\w-]{24}$`));
  return new URL(body.url).pathname;
};
const dataOf = async (path: string) => (await visitor.get(`${path}.json`).expect(200)).body;

/** The key of public links, as it is stored. */
const storedKey = async () => {
  const [row] = await world.sql<{ sealed: Buffer }>('SELECT key_sealed AS sealed FROM public_link_key');
  const masterKey = String(world.settings.SECRET_KEY);
  return Buffer.from(openText({ masterKey, ...PUBLIC_LINK_SEAL }, row?.sealed ?? Buffer.alloc(0)), 'base64url');
};

const notFound = { error: { code: 'NOT_FOUND', message: 'This link shows no check.' } };

test('processes that make their first link at the same time make it with the same key', async () => {
  const { id } = await newCheck('DE136695976');
  expect(await world.sql('SELECT FROM public_link_key')).toEqual([]);
  const links = await Promise.all(
    world.apis.map(async ({ ready }) => {
      const headers = { Authorization: `Bearer ${world.account.live_key}` };
      const answer = await fetch(`${String(ready.base_url)}/v1/checks/${id}/link`, { headers });
      return new URL(((await answer.json()) as { url: string }).url).pathname;
    }),
  );
  const path = await publicLinks(storedKey).pathOf(uuidOf('check', id) as StoredId<'check'>);
  expect(links).toEqual([path, path]);
});

test('the link of a check shows its data without an account, before and after it is anchored', async () => {
  const check = await newCheck('DE136695976');
  const path = await linkOf(check.id);
  const answer = await visitor.get(`${path}.json`).expect(200);
  expect(answer.headers).toMatchObject({
    'cache-control': 'private, max-age=60',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  });
  expect(publicVerificationSchema.safeParse(answer.body).error).toBeUndefined();
  const { evidence, response_hash, anchored_by, timestamp, proof } = answer.body;
  expect(`sha256:${createHash('sha256').update(evidence).digest('hex')}`).toBe(check.response_hash);
  expect(evidence).toBe((await live.get(`/v1/checks/${check.id}/evidence`).expect(200)).text);
  expect(response_hash).toBe(check.response_hash);
  // A worker closes an anchor when it starts, which can be after the check was made.
  if (proof === null) expect(Date.parse(anchored_by)).toBe(Date.parse(check.checked_at) + 3_600_000);
  expect(timestamp).toBeNull();

  await world.admin('anchor', 'close');
  const anchored = await dataOf(path);
  expect(publicVerificationSchema.safeParse(anchored).error).toBeUndefined();
  expect(anchored).toMatchObject({ anchored_by: null, evidence });
  expect(anchored.proof).toEqual((await live.get(`/v1/checks/${check.id}/anchor`).expect(200)).body);
  const chain = (await live.get('/v1/anchors').expect(200)).body.data.toReversed();
  expect(anchored.anchors).toEqual(chain);
  await until('the time-stamp of the anchor', async () => (await dataOf(path)).anchor_timestamp !== null);
  await live.post(`/v1/checks/${check.id}/timestamp`).expect(201);
  expect((await dataOf(path)).timestamp).toMatchObject({ development: true });
});

test('the page of a link is HTML with our own scripts only, and is not cached', async () => {
  const path = await linkOf((await newCheck('FR40303265045')).id);
  const page = await visitor
    .get(path)
    .set('Accept', 'text/html')
    .expect(200)
    .expect('Content-Type', /^text\/html/);
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  });
  expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self';/);
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page.text) ?? [];
  await visitor
    .get(String(script))
    .expect(200)
    .expect('Content-Type', /javascript/);
});

test('a wrong token, an unknown check and a deleted check are the same 404, a page for browsers', async () => {
  const check = await newCheck('NL004495445B01');
  const [one, other] = [await linkOf(check.id), await linkOf((await newCheck('BE0203201340')).id)];
  const links = publicLinks(storedKey);
  const unknown = await links.pathOf(newUuid() as StoredId<'check'>);
  const deleted = await links.pathOf(uuidOf('check', check.id) as StoredId<'check'>);
  expect(deleted).toBe(one);
  await world.sql('DELETE FROM "check" WHERE id = $1', [uuidOf('check', check.id)]);
  const paths = [
    one,
    unknown,
    `/verify/${publicId('check', newUuid())}.${other.split('.')[1]}`,
    other.slice(0, -1),
    `${other}A`,
    other.split('.')[0] ?? '',
    '/verify/nonsense',
    '/verify/%00',
  ];
  for (const path of paths) {
    const data = await visitor.get(`${path}.json`);
    expect([path, data.status, data.body]).toEqual([path, 404, notFound]);
    const call = await visitor.get(path).set('Accept', 'application/json');
    expect([path, call.status, call.body]).toEqual([path, 404, notFound]);
    const page = await visitor.get(path).set('Accept', 'text/html,*/*;q=0.8');
    expect([path, page.status, page.type]).toEqual([path, 404, 'text/html']);
  }
  await visitor.get(other).expect(200);
});

test('a test key gets links of test checks only, and nobody gets those of another account', async () => {
  const http = world.http(world.account.test_key);
  const sandboxed = await newCheck('DE100000003', http);
  const path = await linkOf(sandboxed.id, http);
  expect(await dataOf(path)).toMatchObject({ anchored_by: null, proof: null, anchors: [] });
  const { id } = await newCheck('DE100000003');
  await http.get(`/v1/checks/${id}/link`).expect(404);
  const stranger = await world.newAccount();
  await world.http(stranger.live_key).get(`/v1/checks/${id}/link`).expect(404);
});

test('no log line has a token', async () => {
  const { id } = await newCheck('ESA08000143');
  const path = await linkOf(id);
  await dataOf(path);
  await visitor.get(path).expect(200);
  await visitor.get(`${path}x`).expect(404);
  const [api] = world.apis;
  const lines = () => (api?.lines() ?? []).filter((line) => line.includes(`/verify/${id}`));
  await until('the log lines of the three calls', () => lines().length === 3);
  expect(lines().every((line) => line.includes(`"/verify/${id}…"`))).toBe(true);
  expect(api?.lines().filter((line) => line.includes(String(path.split('.')[1])))).toEqual([]);
});

const statusOf = async ({ ready }: TestProcess, at: string) => (await fetch(`${String(ready.base_url)}${at}`)).status;

test('links survive a change of SECRET_KEY after secrets reseal, with the new key alone', async () => {
  const path = await linkOf((await newCheck('IT00743110157')).id);
  const changed = await world.startApi({ SECRET_KEY: 'another-key-another-key' });
  const reason = 'Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens the key of public links.';
  await until('the reason in the log, before any call', () => changed.lines().some((line) => line.includes(reason)));
  const refused = await fetch(`${String(changed.ready.base_url)}${path}.json`);
  expect([refused.status, await refused.json()]).toEqual([
    500,
    { error: expect.objectContaining({ code: 'INTERNAL' }) },
  ]);

  const keys = { SECRET_KEY: 'another-key-another-key', SECRET_KEY_PREVIOUS: String(world.settings.SECRET_KEY) };
  const reseal = ['secrets', 'reseal'];
  const { stdout } = await runProgram('apps/admin/dist/main.js', reseal, { ...world.settings, ...keys }, true);
  // The key of public links and that of the development authority, which has made a time-stamp.
  expect(JSON.parse(stdout)).toEqual({ resealed: 2 });
  expect([await statusOf(changed, `${path}.json`), await statusOf(changed, path)]).toEqual([200, 200]);
});

test('PUBLIC_VERIFICATION=off turns all links off', async () => {
  const { id } = await newCheck('IT00743110157');
  const path = await linkOf(id);
  const closed = await world.startApi({ PUBLIC_VERIFICATION: 'off' });
  expect([await statusOf(closed, `${path}.json`), await statusOf(closed, path)]).toEqual([404, 404]);
  const answer = await fetch(`${String(closed.ready.base_url)}/v1/checks/${id}/link`, {
    headers: { Authorization: `Bearer ${world.account.live_key}` },
  });
  expect(await answer.json()).toEqual({
    error: { code: 'NOT_FOUND', message: 'Public verification is off on this service.' },
  });
});

test('a network has twenty calls a second', async () => {
  const http = world.http(null);
  const answers = await Promise.all(Array.from({ length: 40 }, () => http.get('/verify/nonsense.json')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.body.error).toMatchObject({ code: 'RATE_LIMITED', retry_after: 1 });
  expect(refused[0]?.body.error.message).toBe('More than 20 calls in one second from this network.');
});
