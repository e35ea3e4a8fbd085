import { randomBytes } from 'node:crypto';
import {
  configureWebhook,
  type LocalServer,
  numberOf,
  openHttpServer,
  openReceivers,
  type Receivers,
  startWorld,
  until,
  type World,
} from '@vat/testkit';
import { type Collector, openCollector, type ReceivedSpan } from './collector.fixture.js';

let world: World;
let collector: Collector;
let receivers: Receivers;
let register: LocalServer;
beforeAll(async () => {
  register = await openHttpServer((_request, response) => void response.end('{"results":[]}'));
  collector = await openCollector();
  receivers = openReceivers();
  world = await startWorld({
    settings: {
      ...receivers.settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
      LOG_LEVEL: 'debug',
      UPSTREAM_WINDOW: '15s',
      UPSTREAM_RETRY_DELAYS: '100ms',
      BACKGROUND_RETRY_DELAYS: '200ms',
      ENRICHMENT_SOURCES: 'fr_recherche_entreprises',
      ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL: register.url,
    },
  });
  await world.vies.defaults({ latency_ms: 0 });
});
afterAll(async () => {
  await world?.stop();
  await Promise.all([register?.close(), collector?.close(), receivers?.close()]);
});

/** A traceparent as a caller sends it. */
const newParent = () => {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, header: `00-${traceId}-${spanId}-01` };
};

const check = (vatNumber: string, traceparent: string, key?: string) =>
  world.http(key).post('/v1/checks', { vat_number: vatNumber }).set('traceparent', traceparent);

/** The spans of a trace once there are `count`. */
const traceOf = async (traceId: string, count: number): Promise<ReceivedSpan[]> => {
  await until(`${count} spans`, () => collector.spansOf(traceId).length >= count);
  return collector.spansOf(traceId);
};

/** Each span with the name of its parent. */
const parentage = (spans: readonly ReceivedSpan[]) =>
  spans.map(({ service, name, parentSpanId }) => [
    service,
    name,
    spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? parentSpanId,
  ]);

const linesWith = (traceId: string) => ({
  api: world.apis.flatMap((api) => api.lines()).filter((line) => line.includes(`"trace_id":"${traceId}"`)),
  worker: world.workers.flatMap((worker) => worker.lines()).filter((line) => line.includes(`"trace_id":"${traceId}"`)),
});

test('a direct check is one trace from the call over the queue and the worker to VIES, below the span of its caller', async () => {
  const { traceId, spanId, header } = newParent();
  const { body } = await check(numberOf('DE', 1), header).expect(201);
  const spans = await traceOf(traceId, 4);
  expect(parentage(spans)).toEqual([
    ['vat-api', 'POST /v1/checks', spanId],
    ['vat-api', 'send upstream-DE', 'POST /v1/checks'],
    ['vat-worker', 'process upstream-DE', 'send upstream-DE'],
    ['vat-worker', 'POST vies', 'process upstream-DE'],
  ]);
  expect(spans.map(({ kind }) => kind)).toEqual([2, 4, 5, 3]);
  const [server, send, run, lookup] = spans.map(({ attributes }) => attributes);
  expect(server).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/checks',
    'url.path': '/v1/checks',
    'http.response.status_code': 201,
  });
  expect(send).toMatchObject({ 'messaging.destination.name': 'upstream-DE', 'messaging.operation.type': 'send' });
  expect(run).toMatchObject({ 'messaging.message.id': send?.['messaging.message.id'], 'vat.job.run': 1 });
  expect(lookup).toMatchObject({
    'vat.member_state': 'DE',
    'vat.lookup.outcome': 'verdict',
    'vat.lookup.attempt': 1,
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
  });
  const { api, worker } = linesWith(traceId);
  expect(api.some((line) => line.includes('Answered a request.') && line.includes('request_id'))).toBe(true);
  expect(worker.some((line) => line.includes(String(body.id)))).toBe(true);
  expect([...collector.paths]).toEqual(['POST /otlp/v1/traces']);
});

test('a register is called in the trace of the check', async () => {
  const { traceId, spanId, header } = newParent();
  await check(numberOf('FR', 1), header).expect(201);
  expect(parentage(await traceOf(traceId, 7))).toEqual([
    ['vat-api', 'POST /v1/checks', spanId],
    ['vat-api', 'send upstream-FR', 'POST /v1/checks'],
    ['vat-worker', 'process upstream-FR', 'send upstream-FR'],
    ['vat-worker', 'POST vies', 'process upstream-FR'],
    ['vat-worker', 'send settle', 'process upstream-FR'],
    ['vat-worker', 'process settle', 'send settle'],
    ['vat-worker', 'GET fr_recherche_entreprises', 'process settle'],
  ]);
});

test('a check that is retried and answered 202 stays in its trace until its webhook is delivered', async () => {
  const receiver = await receivers.start();
  const account = await world.newAccount();
  await configureWebhook(world, account, receiver.url);
  const vatNumber = numberOf('IT', 1);
  const down = { kind: 'error', code: 'MS_UNAVAILABLE' };
  await world.vies.script(vatNumber, [down, down], 'default');
  const impatient = await world.startApi({ UPSTREAM_WINDOW: '1ms' });
  const { traceId, header } = newParent();
  const response = await fetch(`${String(impatient.ready.base_url)}/v1/checks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.live_key}`, 'content-type': 'application/json', traceparent: header },
    body: JSON.stringify({ vat_number: vatNumber }),
  });
  expect(response.status).toBe(202);
  await until('the delivery', () => receiver.arrivals.length > 0);
  // The last one that ends.
  await until('the span of its job', () =>
    collector.spansOf(traceId).some(({ name }) => name === 'process deliveries'),
  );
  const spans = collector.spansOf(traceId);
  const runs = spans.filter(({ name }) => name === 'process upstream-IT');
  expect(runs.every(({ parentSpanId }) => parentSpanId === runs[0]?.parentSpanId)).toBe(true);
  const lookups = spans.filter(({ name }) => name === 'POST vies');
  expect(lookups.map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
    ['unavailable', 2],
    ['unavailable', 2],
    [undefined, 0],
  ]);
  expect(lookups.map(({ parentSpanId }) => parentSpanId)).toEqual(runs.map(({ spanId }) => spanId));
  expect(parentage(spans).slice(-3)).toEqual([
    ['vat-worker', 'send deliveries', 'process upstream-IT'],
    ['vat-worker', 'process deliveries', 'send deliveries'],
    ['vat-worker', 'POST webhook', 'process deliveries'],
  ]);
  expect(spans.at(-1)?.attributes).toMatchObject({
    'vat.delivery.outcome': 'successful',
    'http.response.status_code': 204,
  });
});

test('a call without a well-formed traceparent begins a trace of its own, and a refusal is no fault', async () => {
  const { traceId, spanId } = newParent();
  const { headers } = await world
    .http()
    .get(`/v1/checks/${numberOf('DE', 2)}`)
    .set('traceparent', `00-${traceId}-${spanId}`);
  const answered = await until('the log line', () =>
    world.apis.flatMap((api) => api.lines()).find((line) => line.includes(String(headers['x-request-id']))),
  );
  const own = String((JSON.parse(answered) as { trace_id: string }).trace_id);
  expect(own).not.toBe(traceId);
  const [server, ...others] = await traceOf(own, 1);
  expect(others).toEqual([]);
  expect(server?.parentSpanId).toBeUndefined();
  expect(server?.status.code).toBe(0);
  expect(server?.attributes).toMatchObject({
    'http.route': '/v1/checks/:id',
    'url.path': '/v1/checks/:id',
    'http.response.status_code': 404,
    'error.type': 'NOT_FOUND',
  });
});

test('what the caller does not sample is not recorded, and probes are not traced', async () => {
  const { traceId, header } = newParent();
  await check(numberOf('DE', 3), header.replace(/01$/, '00')).expect(201);
  await world.http(null).get('/readyz').expect(200);
  const later = newParent();
  await check(numberOf('DE', 4), later.header).expect(201);
  await traceOf(later.traceId, 4);
  expect(collector.spansOf(traceId)).toEqual([]);
  expect(collector.text()).not.toContain('readyz');
});

test('no span contains a VAT number, a key or a secret', () => {
  const text = collector.text();
  for (const [state, n] of [
    ['DE', 1],
    ['DE', 2],
    ['FR', 1],
    ['IT', 1],
  ] as const)
    expect(text).not.toContain(numberOf(state, n).slice(2));
  expect(text).not.toContain(world.account.live_key);
  // The path of the endpoint, which may contain a customer's secret.
  expect(text).not.toMatch(/authorization|\/events/i);
});

test('a collector that hangs holds up neither checks nor the end of a process, and is logged once, with no call', async () => {
  collector.hang();
  const { header } = newParent();
  await check(numberOf('DE', 5), header).expect(201);
  const processes = [world.apis[0], world.workers[0]] as const;
  const warnings = () =>
    processes.map((one) => one?.lines().filter((line) => line.includes('Traces were not exported.')) ?? []);
  await until('the warnings', () => warnings().every((lines) => lines.length > 0));
  await check(numberOf('DE', 6), header).expect(201);
  expect(warnings().map((lines) => lines.length)).toEqual([1, 1]);
  // They are about the spans of many calls.
  expect(warnings().flat().join()).not.toMatch(/request_id|trace_id/);
  for (const one of processes) one?.signal('SIGTERM');
  expect(await Promise.all(processes.map((one) => one?.exited))).toEqual([0, 0]);
  expect(processes.flatMap((one) => one?.lines().filter((line) => line.includes('Shutdown timed out')))).toEqual([]);
});
