import { OPERATIONS, type Operation } from '@vat/contracts';
import { newUuid, publicId } from '@vat/domain';
import { startWorld, type TestAccount, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
let other: TestAccount;
let caller: () => ReturnType<World['http']>;
let ids: string[];

const list = (query: string) => caller().get(`/v1/checks${query}`);
const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

beforeAll(async () => {
  world = await startWorld();
  other = await world.newAccount();
  caller = await crowd(world, world.account.account_id);
  ids = [];
  for (const body of [
    { vat_number: 'DE136695976', reference: 'a' },
    { vat_number: 'DE1', reference: 'a' },
    { vat_number: 'ATU13585627', reference: 'b' },
    { vat_number: 'GR094259216' },
    { vat_number: 'DE136695976', reference: 'c' },
  ]) {
    ids.unshift((await caller().post('/v1/checks', body).expect(201)).body.id);
  }
});
afterAll(() => world?.stop());

test('checks are listed newest first, complete, and only those of the account', async () => {
  const { status, body } = await list('');
  expect(status).toBe(200);
  expect(idsOf(body)).toEqual(ids);
  expect(body.next_cursor).toBeNull();
  expect(body.data[0]).toEqual((await caller().get(`/v1/checks/${ids[0]}`)).body);
  expect((await world.http(other.live_key).get('/v1/checks')).body).toEqual({ data: [], next_cursor: null });
});

test.each([
  ['?vat_number=DE136695976', [0, 4]],
  ['?vat_number=de%20136%20695%20976', [0, 4]],
  ['?vat_number=EL094259216', [1]],
  ['?vat_number=nothing', []],
  ['?valid=false', [3]],
  ['?valid=true', [0, 1, 2, 4]],
  ['?reference=a', [3, 4]],
  ['?reference=a&valid=true', [4]],
  ['?from=2000-01-01T00:00:00Z', [0, 1, 2, 3, 4]],
  ['?to=2000-01-01T00:00:00.000Z', []],
  ['?from=0000-01-01T00:00:00Z', [0, 1, 2, 3, 4]],
  ['?from=0000-01-01T00:00:00%2B23:59', [0, 1, 2, 3, 4]],
  ['?to=9999-12-31T23:59:59-23:59', [0, 1, 2, 3, 4]],
  ['?to=9999-12-31', [0, 1, 2, 3, 4]],
  ['?vat_number=DE136%00695976', [0, 4]],
])('%s finds the matching checks', async (query, expected) => {
  const { status, body } = await list(query);
  expect(status).toBe(200);
  expect(idsOf(body)).toEqual(expected.map((index) => ids[index]));
});

test('from is inclusive, to is exclusive', async () => {
  const { body } = await caller().get(`/v1/checks/${ids[2]}`);
  const at = encodeURIComponent(body.checked_at);
  expect(idsOf((await list(`?from=${at}`)).body)).toContain(ids[2]);
  expect(idsOf((await list(`?to=${at}`)).body)).not.toContain(ids[2]);
});

test('cursors page through all checks while others arrive', async () => {
  const before = idsOf((await list('')).body);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { data: { id: string }[]; next_cursor: string | null } = (
      await list(`?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`).expect(200)
    ).body;
    expect(page.data.length).toBeLessThanOrEqual(2);
    seen.push(...idsOf(page));
    cursor = page.next_cursor;
    await caller().post('/v1/checks', { vat_number: 'IT1' }).expect(201);
  } while (cursor !== null);
  expect(seen).toEqual(before);
});

describe('a cursor', () => {
  const cursorOf = async (query: string): Promise<string> => (await list(query).expect(200)).body.next_cursor;
  const refusalOf = ({ status, body }: { status: number; body: { error?: unknown } }) => [status, body.error];
  const message = 'cursor belongs to another list, or to this one with other filters';
  const refused = [400, { code: 'BAD_REQUEST', message: `${message}.`, fields: [{ path: 'cursor', message }] }];

  test('that was altered anywhere is refused', async () => {
    const cursor = await cursorOf('?limit=1');
    for (let at = 0; at < cursor.length; at += 1) {
      const altered = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
      expect([at, ...refusalOf(await list(`?cursor=${altered}`))]).toEqual([at, ...refused]);
    }
  });

  test('of one list is refused by every other list', async () => {
    const cursor = await cursorOf('?limit=1');
    const others = Object.values<Operation>(OPERATIONS).filter(
      ({ path, query }) => query?.shape.cursor && path !== '/v1/checks',
    );
    expect(others.length).toBeGreaterThanOrEqual(6);
    for (const { path } of others) {
      const [, kind = 'batch'] = /^\/v1\/(watch|coverage)/.exec(path) ?? [];
      const id = publicId(kind as 'batch' | 'coverage' | 'watch', newUuid());
      const answer = await caller().get(`${path.replace('{id}', id)}?cursor=${cursor}`);
      expect([path, ...refusalOf(answer)]).toEqual([path, ...refused]);
    }
  });

  test('of one account is refused for another', async () => {
    const answer = await world.http(other.live_key).get(`/v1/checks?cursor=${await cursorOf('?limit=1')}`);
    expect(refusalOf(answer)).toEqual(refused);
  });

  test('of a live key is refused for a test key of the account, and vice versa', async () => {
    const http = world.http(world.account.test_key);
    for (const vat_number of ['DE100', 'DE1']) await http.post('/v1/checks', { vat_number }).expect(201);
    expect(refusalOf(await http.get(`/v1/checks?cursor=${await cursorOf('?limit=1')}`))).toEqual(refused);
    const { body } = await http.get('/v1/checks?limit=1').expect(200);
    expect(refusalOf(await world.http().get(`/v1/checks?cursor=${body.next_cursor}`))).toEqual(refused);
  });

  test.each([
    ['', 'valid=true'],
    ['valid=true', ''],
    ['valid=true', 'valid=false'],
    ['reference=a', 'reference=b'],
    ['from=2026-01-01', 'from=2026-01-02'],
    ['vat_number=DE136695976', 'reference=DE136695976'],
  ])('of the filter "%s" is refused under "%s"', async (filter, another) => {
    const cursor = await cursorOf(`?limit=1&${filter}`);
    expect(refusalOf(await list(`?${another}&cursor=${cursor}`))).toEqual(refused);
  });

  test.each([
    ['limit=1', 'limit=50'],
    ['limit=1&vat_number=DE136695976', 'vat_number=de%20136%20695%20976'],
    ['limit=1&from=2026-01-01&valid=true', 'valid=true&from=2026-01-01T01:00:00%2B01:00'],
  ])('of "%s" is accepted with "%s", which is the same list', async (query, same) => {
    const cursor = await cursorOf(`?${query}`);
    const all = idsOf((await list(`?${same.replace('limit=50', '')}`)).body);
    expect(idsOf((await list(`?${same}&cursor=${cursor}`).expect(200)).body)).toEqual(all.slice(1));
  });
});

test('a page that ends exactly at the last check has no next one', async () => {
  const all = idsOf((await list('?limit=100&reference=a')).body);
  expect((await list(`?limit=${all.length}&reference=a`)).body.next_cursor).toBeNull();
});

test.each([
  ['?limit=0', 'limit'],
  ['?limit=101', 'limit'],
  ['?limit=-1', 'limit'],
  ['?limit=1.5', 'limit'],
  ['?limit=', 'limit'],
  ['?limit=abc', 'limit'],
  ['?limit=1&limit=2', 'limit'],
  ['?cursor=nonsense', 'cursor'],
  ['?cursor=', 'cursor'],
  ['?cursor=AAAAAAAAAAAAAAAAAAAAA%00', 'cursor'],
  ['?valid=yes', 'valid'],
  ['?from=yesterday', 'from'],
  ['?to=2026-13-01', 'to'],
  ['?reference=', 'reference'],
  ['?reference=%20%20', 'reference'],
  ['?reference=%00', 'reference'],
  ['?vat_number=%00', 'vat_number'],
  ['?surprise=1', 'surprise'],
  ['?__proto__=1', '__proto__'],
  ['?reference=M%FCller', ''],
  ['?reference=100%', ''],
  [`?${'&'.repeat(1_000)}surprise=1`, 'surprise'],
])('%s is BAD_REQUEST that names the parameter', async (query, field) => {
  const { status, body } = await list(query);
  expect([status, body.error?.code]).toEqual([400, 'BAD_REQUEST']);
  expect(body.error.fields.map(({ path }: { path: string }) => path)).toEqual([field]);
});

test('a repeated parameter is refused with that message, in every list and export', async () => {
  for (const { path, query, method } of Object.values<Operation>(OPERATIONS)) {
    if (!query || method !== 'get') continue;
    for (const name of Object.keys(query.shape)) {
      const real = path.replace('{id}', publicId('batch', newUuid()));
      const { status, body } = await caller().get(`${real}?${name}=1&${name}=2`);
      expect([real, status, body.error?.fields]).toEqual([
        real,
        400,
        [{ path: name, message: `${name} may be given once` }],
      ]);
    }
  }
});

test('limits of 1 and 100 are accepted', async () => {
  expect((await list('?limit=1')).body.data).toHaveLength(1);
  await list('?limit=100').expect(200);
});
