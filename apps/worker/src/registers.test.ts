import type { RequestListener } from 'node:http';
import { uuidOf } from '@vat/domain';
import {
  callChecks,
  configureWebhook,
  type LocalServer,
  numberOf,
  openHttpServer,
  openProxy,
  openReceivers,
  type Receivers,
  startWorld,
  type TestProxy,
  until,
  type World,
} from '@vat/testkit';

let world: World;
let register: LocalServer;
let proxy: TestProxy;
let receivers: Receivers;
let calls = 0;
const answerNobody: RequestListener = (_request, response) => void response.end('{"results":[]}');
let answer = answerNobody;
beforeAll(async () => {
  register = await openHttpServer((request, response) => {
    calls += 1;
    answer(request, response);
  });
  proxy = await openProxy();
  receivers = openReceivers();
  world = await startWorld({
    workers: 3,
    settings: {
      ...receivers.settings,
      EGRESS_PROXY: `http://egress:secret@${proxy.host}`,
      UPSTREAM_WINDOW: '20s',
      ENRICHMENT_TIMEOUT: '7s',
      ENRICHMENT_SOURCES: 'fr_recherche_entreprises',
      ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL: register.url,
    },
  });
  await world.vies.defaults({ latency_ms: 0 });
});
afterAll(async () => {
  await world?.stop();
  await Promise.all([register?.close(), proxy?.close(), receivers?.close()]);
});
beforeEach(() => {
  calls = 0;
});

type Entry = { source: string; outcome: string; detail?: string; duration_ms: number };
const registerEntries = (answers: { body: Record<string, unknown> }[]) =>
  answers.flatMap(({ body }) => (body.checks as Entry[]).filter(({ source }) => source === 'fr_recherche_entreprises'));

test('three workers together call a register no faster than its operator permits', async () => {
  const numbers = Array.from({ length: 12 }, (_, n) => numberOf('FR', n));
  const answers = await callChecks(world, numbers);
  expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 201));
  expect(registerEntries(answers).map(({ outcome }) => outcome)).toEqual(numbers.map(() => 'not_found'));
  expect(calls).toBe(12);
  // A fifth of a second between two starts, to which sending is not added. Each worker on its own would need a third of this time.
  const [started] = await world.sql<{ ms: number }>(
    `SELECT extract(epoch FROM max(started_at) - min(started_at))::float8 * 1000 AS ms FROM exchange WHERE source = $1`,
    ['fr_recherche_entreprises'],
  );
  expect(started?.ms).toBeGreaterThan(10 * 200);
});

test('a register that does not answer delays no check beyond its time-out, and its entry says so', async () => {
  answer = () => undefined;
  const [found] = await callChecks(world, [numberOf('FR', 100)]);
  answer = answerNobody;
  expect(found?.status).toBe(201);
  const [entry] = registerEntries(found ? [found] : []);
  expect(entry).toMatchObject({ outcome: 'timeout', detail: expect.any(String) });
  // What the register adds to the check; lookup and recording take their own time.
  expect(entry?.duration_ms).toBeLessThan(8_000);
});

test('VIES and registers are called through EGRESS_PROXY, receivers of deliveries are not', async () => {
  const receiver = await receivers.start();
  await configureWebhook(world, world.account, receiver.url);
  const before = proxy.seen.length;
  const [found] = await callChecks(world, [numberOf('FR', 200)]);
  await world.http().post('/v1/webhook/test').expect(202);
  await until('the delivery', () => receiver.arrivals.length > 0);
  expect(registerEntries(found ? [found] : [])).toMatchObject([{ outcome: 'not_found' }]);
  const lines = proxy.seen.slice(before).map(({ line }) => line);
  expect(lines).toEqual([
    expect.stringMatching(/^POST http:\/\/127\.0\.0\.1:\d+\S*\/check-vat-number$/),
    expect.stringMatching(/^GET http:\/\/127\.0\.0\.1:\d+\/search\?q=/),
  ]);
  const exchanges = await world.sql<{ headers: object; url: string }>(
    'SELECT url, request_headers AS headers FROM exchange WHERE request_id = $1',
    [uuidOf('request', String(found?.body.request_id))],
  );
  expect(exchanges).toHaveLength(2);
  expect(JSON.stringify(exchanges)).not.toMatch(/secret|egress|authorization/i);
});
