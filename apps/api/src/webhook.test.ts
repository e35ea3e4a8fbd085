import { deliveryDetailSchema, deliverySchema, errorSchema, webhookSchema } from '@vat/contracts';
import { MAX_ON_DEMAND_DELIVERIES, newUuid, uuidOf } from '@vat/domain';
import {
  configureWebhook,
  openReceivers,
  type Receivers,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
  withStatus,
} from '@vat/testkit';
import { type Browser, openBrowser } from './dashboard/browser.fixture.js';

let receivers: Receivers;
let receiver: TestReceiver;
let world: World;
let other: TestAccount;
beforeAll(async () => {
  receivers = openReceivers();
  receiver = await receivers.start((response) => void response.writeHead(202).end('thank you'));
  world = await startWorld({ settings: receivers.settings });
  other = await world.newAccount();
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
});

const noWebhook = () => world.sql('DELETE FROM webhook');

test('without a webhook, reading it is 404, a test event is 400 NO_WEBHOOK, and the log is empty', async () => {
  await noWebhook();
  const http = world.http();
  expect((await http.get('/v1/webhook').expect(404)).body.error.code).toBe('NOT_FOUND');
  expect((await http.post('/v1/webhook/test').expect(400)).body.error.code).toBe('NO_WEBHOOK');
  expect((await http.get('/v1/webhook/deliveries').expect(200)).body).toEqual({ data: [], next_cursor: null });
});

test('the configuration shows the URL and eight characters of the secret', async () => {
  const secret = await configureWebhook(world, world.account, receiver.url);
  for (const key of [world.account.live_key, world.account.test_key]) {
    const { body } = await world.http(key).get('/v1/webhook').expect(200);
    expect(webhookSchema.parse(body)).toEqual({
      url: receiver.url,
      secret_prefix: secret.slice(0, 8),
      configured_at: expect.any(String),
    });
  }
  await world.http(other.live_key).get('/v1/webhook').expect(404);
});

test.each(['live_key', 'test_key'] as const)(
  'a test event requested with a %s is delivered like a real one',
  async (key) => {
    await configureWebhook(world, world.account, receiver.url);
    const http = world.http(world.account[key]);
    const { body } = await http.post('/v1/webhook/test').expect(202);
    expect(Object.keys(body)).toEqual(['delivery_id']);
    const shown = await until('the delivery to end', async () => {
      const delivery = (await http.get(`/v1/webhook/deliveries/${body.delivery_id}`).expect(200)).body;
      return delivery.status !== 'pending' && delivery;
    });
    const detail = deliveryDetailSchema.parse(shown);
    expect(detail).toMatchObject({
      delivery_id: body.delivery_id,
      event: 'webhook.test',
      status: 'successful',
      attempts: 1,
      next_attempt_at: null,
      last_attempt: { status_code: 202, error: null },
      attempts_log: [
        { attempt: 1, url: receiver.url, status_code: 202, address: '127.0.0.1', answer: 'thank you', error: null },
      ],
    });
    expect(Object.keys(detail.body)).toEqual(['event', 'sent_at']);
    const arrival = receiver.arrivals.find(({ headers }) => headers['x-service-delivery'] === body.delivery_id);
    expect(JSON.parse(arrival?.body ?? '')).toEqual(detail.body);
    expect(arrival?.headers['webhook-id']).toBe(detail.event_id);
  },
);

test('the log is listed newest first, in pages, and only for the account', async () => {
  await configureWebhook(world, world.account, receiver.url);
  const http = world.http();
  const sent: string[] = [];
  for (let n = 0; n < 5; n += 1) sent.unshift((await http.post('/v1/webhook/test').expect(202)).body.delivery_id);
  const pages: string[][] = [];
  let query = '?limit=2';
  while (pages.length < 3) {
    const { body } = await http.get(`/v1/webhook/deliveries${query}`).expect(200);
    pages.push(body.data.map((entry: unknown) => deliverySchema.parse(entry).delivery_id));
    query = `?limit=2&cursor=${body.next_cursor}`;
  }
  expect(pages.flat().slice(0, 5)).toEqual(sent);
  expect((await world.http(other.live_key).get('/v1/webhook/deliveries').expect(200)).body.data).toEqual([]);
});

test.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=nonsense', '?state=failed'])('%s is 400', async (query) => {
  const { body } = await world.http().get(`/v1/webhook/deliveries${query}`).expect(400);
  expect(body.error.code).toBe('BAD_REQUEST');
});

test('a test key sees and resends only deliveries of test events; a live key sees all', async () => {
  const account = await world.newAccount();
  await configureWebhook(world, account, receiver.url);
  const [live, test] = [world.http(account.live_key), world.http(account.test_key)];
  const sent = async (http: typeof live): Promise<string> =>
    (await http.post('/v1/webhook/test').expect(202)).body.delivery_id;
  const listed = async (http: typeof live): Promise<string[]> =>
    (await http.get('/v1/webhook/deliveries').expect(200)).body.data.map(
      (entry: { delivery_id: string }) => entry.delivery_id,
    );
  const resend = (http: typeof live, id: string) => http.post(`/v1/webhook/deliveries/${id}/resend`);
  const [a, b, c] = [await sent(live), await sent(test), await sent(live)];

  await test.get(`/v1/webhook/deliveries/${a}`).expect(404);
  await resend(test, a).expect(404);
  const { body: again } = await resend(test, b).expect(202);
  expect(await listed(test)).toEqual([again.delivery_id, b]);
  expect(await listed(live)).toEqual([again.delivery_id, c, b, a]);
  await test.get(`/v1/webhook/deliveries/${again.delivery_id}`).expect(200);
  // Also when a live key sends it: it is still a test event.
  const { body: byLive } = await resend(live, b).expect(202);
  expect((await listed(test))[0]).toBe(byLive.delivery_id);
});

describe('deliveries of test events and resends', () => {
  const MAX = MAX_ON_DEMAND_DELIVERIES;
  let account: TestAccount;
  let owner: Browser;
  let old: string;
  beforeAll(async () => {
    account = await world.newAccount({ email: 'busy@example.com' });
    await configureWebhook(world, account, receiver.url);
    owner = openBrowser(world.baseUrl());
    await owner.signIn('busy@example.com');
    old = (await world.http(account.live_key).post('/v1/webhook/test').expect(202)).body.delivery_id;
    await until('the delivery to end', async () => (await detail(old)).status === 'successful');
    // They wait for a retry an hour away.
    await world.sql(
      `INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at, on_demand)
       SELECT n.id, d.account_id, d.event_id, d.generation, 'pending', now(), now() + interval '1 hour', true
       FROM delivery d, unnest($2::uuid[]) AS n(id) WHERE d.id = $1`,
      [uuidOf('delivery', old), Array.from({ length: MAX - 5 }, newUuid)],
    );
    // So that those which are accepted stay pending.
    receiver.answer(withStatus(500));
  });
  afterAll(() => receiver.answer((response) => void response.writeHead(202).end('thank you')));
  const detail = async (id: string) =>
    (await world.http(account.live_key).get(`/v1/webhook/deliveries/${id}`).expect(200)).body;

  test('are refused beyond 1 000 pending ones, however many calls race, of the API and of the dashboard', async () => {
    const http = world.http(account.live_key);
    const calls = [
      () => http.post('/v1/webhook/test'),
      () => http.post(`/v1/webhook/deliveries/${old}/resend`),
      () => owner.call('post', '/webhook/test'),
      () => owner.call('post', `/webhook/deliveries/${old}/resend`),
    ];
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => calls[n % 4]?.()));
    expect(answers.filter((answer) => answer?.status === 202)).toHaveLength(5);
    const refused = answers.filter((answer) => answer?.status !== 202);
    for (const answer of refused) {
      expect(answer?.status).toBe(429);
      expect(errorSchema('TOO_MANY_DELIVERIES').parse(answer?.body).error).toMatchObject({ pending: MAX });
      expect(answer?.headers['retry-after']).toBe(String(answer?.body.error.retry_after));
    }
    const [row] = await world.sql(
      `SELECT count(*)::int AS n FROM delivery WHERE account_id = $1 AND state = 'pending'`,
      [uuidOf('account', account.account_id)],
    );
    expect(row?.n).toBe(MAX);
  });

  test('do not limit real events or other accounts', async () => {
    const http = world.http(account.live_key);
    await world.vies.script('DE136695976', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
    await http.post('/v1/checks', { vat_number: 'DE136695976' }).expect(202);
    await world.vies.script('DE136695976', ['valid']);
    await until('the event to be sent', async () => {
      const { body } = await http.get('/v1/webhook/deliveries?limit=1').expect(200);
      return body.data[0]?.event === 'check.completed' && body.data[0].attempts > 0;
    });
    const another = await world.newAccount();
    await configureWebhook(world, another, receiver.url);
    await world.http(another.live_key).post('/v1/webhook/test').expect(202);
  });

  test('are accepted again after some have ended', async () => {
    const send = () => world.http(account.live_key).post('/v1/webhook/test');
    expect((await send()).status).toBe(429);
    await world.sql(
      `UPDATE delivery SET state = 'failed', next_attempt_at = NULL WHERE id IN (
         SELECT id FROM delivery WHERE account_id = $1 AND on_demand AND state = 'pending' AND attempts = 0 LIMIT 2)`,
      [uuidOf('account', account.account_id)],
    );
    expect([(await send()).status, (await send()).status, (await send()).status]).toEqual([202, 202, 429]);
  });
});

test('without a webhook the log stays readable, and nothing can be resent', async () => {
  await configureWebhook(world, world.account, receiver.url);
  const http = world.http();
  const { body } = await http.post('/v1/webhook/test').expect(202);
  await noWebhook();
  await http.get(`/v1/webhook/deliveries/${body.delivery_id}`).expect(200);
  const refused = await http.post(`/v1/webhook/deliveries/${body.delivery_id}/resend`).expect(400);
  expect(refused.body.error.code).toBe('NO_WEBHOOK');
});
