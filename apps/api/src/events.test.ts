import { eventSchema } from '@vat/contracts';
import { hashApiKey, newUuid, publicId } from '@vat/domain';
import { configureWebhook, numberOf, startWorld, type TestAccount, until, uploadBatch, type World } from '@vat/testkit';

const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };
/** Refused by the address rule, so that nothing is sent. */
const NOWHERE = 'https://127.0.0.1:1/';

type Listed = { event_id: string; type: string; created_at: string; test?: true; body: Record<string, unknown> };
type Http = ReturnType<World['http']>;

let world: World;
let account: TestAccount;
let other: TestAccount;
/** What happened to `account`, in order. */
let requestId: string;
let batch: string;

const live = (): Http => world.http();
const list = async (query: string, http = live()): Promise<{ data: Listed[]; next_cursor: string | null }> =>
  (await http.get(`/v1/events${query}`).expect(200)).body;
const follow = async (query: string, http = live()): Promise<{ data: Listed[]; last_event_id: string | null }> =>
  (await http.get(`/v1/events?${query}`).expect(200)).body;
const idsOf = ({ data }: { data: Listed[] }): string[] => data.map((event) => event.event_id);
const refusalOf = async (query: string, http = live()) => {
  const { status, body } = await http.get(`/v1/events?${query}`);
  return [status, body.error?.code, body.error?.fields?.map(({ path }: { path: string }) => path)];
};
/** Queues a test event of the account of a key and returns its id. */
const sendTest = async (http: Http): Promise<string> => {
  const { body } = await http.post('/v1/webhook/test').expect(202);
  return (await http.get(`/v1/webhook/deliveries/${body.delivery_id}`).expect(200)).body.event_id;
};

beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '300ms' } });
  ({ account } = world);
  other = await world.newAccount();
  const number = numberOf('DE', 1);
  await world.vies.script(number, [DOWN]);
  const { body } = await live().post('/v1/checks', { vat_number: number }).expect(202);
  requestId = body.request_id;
  await world.vies.script(number, [{ kind: 'valid' }]);
  await until('the check', async () => (await live().get(`/v1/requests/${requestId}`)).body.status === 'completed');
  batch = (await uploadBatch(world, 'vat_number\nDE1\n')).body.batch_id as string;
  await until('the batch', async () => (await live().get(`/v1/batches/${batch}`)).body.status === 'completed');
});
afterAll(() => world?.stop());

test('without a webhook every event is stored, and listed newest first with its body', async () => {
  const page = await list('');
  expect(page.next_cursor).toBeNull();
  for (const event of page.data) expect(eventSchema.parse(event)).toEqual(event);
  expect(page.data.map(({ body }) => body)).toMatchObject([
    { event: 'batch.completed', batch_id: batch, total: 1, done: 1, failed: 0 },
    { event: 'check.completed', request_id: requestId, check: { valid: true } },
  ]);
  expect((await live().get('/v1/webhook/deliveries').expect(200)).body.data).toEqual([]);
  expect((await live().get(`/v1/events/${page.data[0]?.event_id}`).expect(200)).body).toEqual(page.data[0]);
  expect(await follow('after=start')).toEqual({ data: page.data.toReversed(), last_event_id: page.data[0]?.event_id });
});

test('events are filtered by type and time, and read page by page', async () => {
  const [newest, oldest] = (await list('')).data;
  expect(idsOf(await list('?type=check.completed'))).toEqual([oldest?.event_id]);
  expect(idsOf(await list('?type=watch.changed'))).toEqual([]);
  expect(idsOf(await list(`?from=${newest?.created_at}`))).toEqual([newest?.event_id]);
  expect(idsOf(await list(`?to=${newest?.created_at}`))).toEqual([oldest?.event_id]);
  const first = await list('?limit=1');
  const second = await list(`?limit=1&cursor=${first.next_cursor}`);
  expect([...idsOf(first), ...idsOf(second), second.next_cursor]).toEqual([newest?.event_id, oldest?.event_id, null]);
  expect(await refusalOf(`type=check.completed&cursor=${first.next_cursor}`)).toEqual([400, 'BAD_REQUEST', ['cursor']]);
});

test('a test key reads and follows test events alone; other accounts read none of them', async () => {
  await configureWebhook(world, account, NOWHERE);
  const [test, stranger] = [world.http(account.test_key), world.http(other.live_key)];
  const ofLive = await sendTest(live());
  const ofTest = await sendTest(test);
  expect((await list('?limit=2')).data).toMatchObject([{ event_id: ofTest, test: true }, { event_id: ofLive }]);
  expect(idsOf(await list('', test))).toEqual([ofTest]);
  expect(idsOf(await follow('after=start', test))).toEqual([ofTest]);
  expect(await refusalOf(`after=${ofLive}`, test)).toEqual([400, 'BAD_REQUEST', ['after']]);
  expect((await test.get(`/v1/events/${ofTest}`).expect(200)).body.body).toMatchObject({ event: 'webhook.test' });
  for (const [http, id] of [
    [test, ofLive],
    [stranger, ofTest],
    [live(), publicId('event', newUuid())],
    [live(), account.account_id],
  ] as const)
    expect((await http.get(`/v1/events/${id}`).expect(404)).body.error.code).toBe('NOT_FOUND');
  expect(await list('', stranger)).toEqual({ data: [], next_cursor: null });
  expect(await follow('after=start', stranger)).toEqual({ data: [], last_event_id: null });
  expect(await refusalOf(`after=${ofTest}`, stranger)).toEqual([400, 'BAD_REQUEST', ['after']]);
});

test('following from the start, an event at a time, returns each once, oldest first', async () => {
  const seen: string[] = [];
  for (let after: string | null = 'start'; after !== null; ) {
    const page: { data: Listed[]; last_event_id: string | null } = await follow(`after=${after}&limit=1`);
    seen.push(...idsOf(page));
    after = page.data.length === 0 ? null : page.last_event_id;
  }
  expect(seen).toEqual(idsOf(await list('')).toReversed());
  expect(await follow(`after=${seen.at(-1)}`)).toEqual({ data: [], last_event_id: seen.at(-1) });
  expect(idsOf(await follow('after=start&type=batch.completed'))).toEqual(idsOf(await list('?type=batch.completed')));
});

test('a call that waits is answered when there is an event, of its type, its account and its mode', async () => {
  await configureWebhook(world, account, NOWHERE);
  await configureWebhook(world, other, NOWHERE);
  const [last] = idsOf(await list('?limit=1'));
  const [lastOfTest] = idsOf(await list('?limit=1', world.http(account.test_key)));
  const calls = [
    follow(`after=${last}&wait=20`),
    follow(`after=${last}&wait=20&type=webhook.test`),
    follow(`after=${lastOfTest}&wait=20`, world.http(account.test_key)),
    follow('after=start&wait=20', world.http(other.live_key)),
  ];
  const others = [follow(`after=${last}&wait=1&type=batch.completed`)];
  const ofOther = await sendTest(world.http(other.live_key));
  expect(idsOf((await calls[3]) ?? { data: [] })).toEqual([ofOther]);
  const ofLive = await sendTest(live());
  for (const call of calls.slice(0, 2))
    expect(await call).toMatchObject({ data: [{ event_id: ofLive }], last_event_id: ofLive });
  const ofTest = await sendTest(world.http(account.test_key));
  expect(await calls[2]).toMatchObject({ data: [{ event_id: ofTest }], last_event_id: ofTest });
  expect(await others[0]).toEqual({ data: [], last_event_id: last });
});

test('a call that waits for events gets none once its key was revoked', async () => {
  const { account_id, live_key: key, test_key } = await world.newAccount();
  await configureWebhook(world, { account_id }, NOWHERE);
  const waiting = world
    .http(key)
    .get('/v1/events?after=start&wait=20')
    .then(({ status, body }) => [status, body.error?.code]);
  await world.sql('UPDATE api_key SET revoked_at = now() WHERE hash = $1', [hashApiKey(key)]);
  await until('the key is refused', async () => (await world.http(key).get('/v1/usage')).status === 401);
  await sendTest(world.http(test_key));
  expect(await waiting).toEqual([401, 'UNAUTHORIZED']);
});

test.each([
  ['after=start&cursor=x', 'after'],
  ['after=start&from=2026-01-01', 'after'],
  ['after=start&to=2026-01-01', 'after'],
  ['after=nonsense', 'after'],
  ['after=', 'after'],
  ['wait=5', 'wait'],
  ['after=start&wait=21', 'wait'],
  ['after=start&wait=-1', 'wait'],
  ['type=check.deleted', 'type'],
])('%s is BAD_REQUEST that names the parameter', async (query, field) => {
  expect(await refusalOf(query)).toEqual([400, 'BAD_REQUEST', [field]]);
});

test('an event that is not stored cannot be continued from, and the message says how to begin', async () => {
  const { body } = await live()
    .get(`/v1/events?after=${publicId('event', newUuid())}`)
    .expect(400);
  expect(body.error.message).toMatch(/after=start begins with the oldest stored event/);
});
