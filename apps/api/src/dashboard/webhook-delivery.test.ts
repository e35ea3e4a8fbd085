import { isSignedBy, openReceivers, type Receivers, startWorld, until, type World, withStatus } from '@vat/testkit';
import { type Browser, openBrowser } from './browser.fixture.js';

let receivers: Receivers;
let world: World;
let owner: Browser;
let key: string;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({ settings: { ...receivers.settings, WEBHOOK_RETRY_DELAYS: '1s,1h' } });
  key = (await world.newAccount({ email: 'owner@example.com' })).live_key;
  owner = openBrowser(world.baseUrl());
  expect((await owner.signIn('owner@example.com')).status).toBe(200);
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
});

const save = async (url: string): Promise<string> =>
  (await owner.call('put', '/webhook', { url }).expect(200)).body.secret;
const sendTest = async (): Promise<string> =>
  (await world.http(key).post('/v1/webhook/test').expect(202)).body.delivery_id;
const logOf = async (id: string) => (await world.http(key).get(`/v1/webhook/deliveries/${id}`).expect(200)).body;

test('the secret that was shown once signs the deliveries', async () => {
  const receiver = await receivers.start();
  const secret = await save(receiver.url);
  await sendTest();
  const arrival = await until('the test event', () => receiver.arrivals[0]);
  expect(isSignedBy(secret, arrival)).toBe(true);
});

test('after saving again the next attempt goes to the new URL under the new secret, never the previous one', async () => {
  const [former, present] = await Promise.all([receivers.start(withStatus(500)), receivers.start()]);
  const before = await save(former.url);
  await sendTest();
  const refused = await until('the first attempt', () => former.arrivals[0]);
  const after = await save(present.url);
  const accepted = await until('the second attempt', () => present.arrivals[0]);
  expect([isSignedBy(before, refused), isSignedBy(after, refused)]).toEqual([true, false]);
  expect([isSignedBy(before, accepted), isSignedBy(after, accepted)]).toEqual([false, true]);
  expect(accepted.body).toBe(refused.body);
  expect(former.arrivals).toHaveLength(1);
});

test('removing it ends pending deliveries as WEBHOOK_REMOVED; the log stays readable, and saving it again resumes none', async () => {
  const receiver = await receivers.start(withStatus(500));
  await save(receiver.url);
  const id = await sendTest();
  await until('two failed attempts', async () => (await logOf(id)).attempts === 2);
  await owner.call('delete', '/webhook').expect(204);
  const removed = {
    status: 'failed',
    next_attempt_at: null,
    last_attempt: expect.objectContaining({ error: 'WEBHOOK_REMOVED', status_code: null }),
  };
  expect(await logOf(id)).toMatchObject(removed);
  expect((await world.http(key).get('/v1/webhook')).status).toBe(404);
  expect((await world.http(key).post('/v1/webhook/test')).body.error.code).toBe('NO_WEBHOOK');

  receiver.answer(withStatus(204));
  const secret = await save(receiver.url);
  await sendTest();
  const arrival = await until('the test event', () => receiver.arrivals[2]);
  expect(isSignedBy(secret, arrival)).toBe(true);
  expect(await logOf(id)).toMatchObject(removed);
  expect(receiver.arrivals).toHaveLength(3);
});
