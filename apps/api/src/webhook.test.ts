import { deliveryDetailSchema, deliverySchema, webhookSchema } from '@vat/contracts';
import { newUuid, publicId } from '@vat/domain';
import {
  configureWebhook,
  openReceivers,
  type Receivers,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
} from '@vat/testkit';

let receivers: Receivers;
let receiver: TestReceiver;
let world: World;
let other: TestAccount;
beforeAll(async () => {
  receivers = await openReceivers();
  receiver = await receivers.start((response) => void response.writeHead(202).end('thank you'));
  world = await startWorld({ settings: receivers.settings });
  other = await world.newAccount();
}, 60_000);
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
}, 60_000);

const noWebhook = () => world.sql('DELETE FROM webhook');

test('without a webhook it is 404, a test is 400 NO_WEBHOOK, and the log is empty but there', async () => {
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

test.each(['live_key', 'test_key'] as const)('a test event asked for with a %s goes the real way', async (key) => {
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
});

test('the log lists newest first, page by page, and only what is the account’s', async () => {
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

test.each(['?limit=0', '?limit=101', '?limit=x', '?cursor=nonsense', '?status=failed'])('%s is 400', async (query) => {
  const { body } = await world.http().get(`/v1/webhook/deliveries${query}`).expect(400);
  expect(body.error.code).toBe('BAD_REQUEST');
});

test('a delivery that is ill-formed, unknown or another account’s is 404 alike', async () => {
  await configureWebhook(world, world.account, receiver.url);
  const { body } = await world.http().post('/v1/webhook/test').expect(202);
  for (const [key, id] of [
    [other.live_key, body.delivery_id],
    [world.account.live_key, publicId('delivery', newUuid())],
    [world.account.live_key, 'dlv_nonsense'],
  ]) {
    await world.http(key).get(`/v1/webhook/deliveries/${id}`).expect(404);
    expect((await world.http(key).post(`/v1/webhook/deliveries/${id}/resend`).expect(404)).body.error.code).toBe(
      'NOT_FOUND',
    );
  }
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
