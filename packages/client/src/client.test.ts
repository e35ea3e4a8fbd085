import { once } from 'node:events';
import { createServer } from 'node:https';
import { createTestAuthority, listenLocally, until } from '@vat/testkit';
import { openHttpServer } from '@vat/testkit/local-server';
import { createClient } from './client.js';
import { connectionFrom } from './connection.js';
import { AbandonedError, ConnectionError, PendingError } from './errors.js';
import { openScriptedService, refusal, type ScriptedService } from './scripted-service.fixture.js';

let service: ScriptedService;
beforeAll(async () => {
  service = await openScriptedService();
});
afterAll(() => service?.close());

const CHECK = { id: 'chk_1', object: 'check', valid: true };
const ACCEPTED = { request_id: 'req_1', status: 'pending' };
const failure = async (promise: Promise<unknown>): Promise<Record<string, unknown>> => {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('the call succeeded');
  return error as unknown as Record<string, unknown>;
};
const keys = () => service.calls.map(({ headers }) => headers['idempotency-key']);

describe('a call', () => {
  it('sends the key, and returns status, headers and body', async () => {
    service.script({ body: { used: 3 }, headers: { 'RateLimit-Remaining': '9' } });
    const { status, headers, body } = await service.client.call('getUsage');
    expect([status, headers.get('ratelimit-remaining'), body]).toEqual([200, '9', { used: 3 }]);
    expect(service.calls).toMatchObject([
      { method: 'GET', path: '/v1/usage', headers: { authorization: 'Bearer vat_test_key' } },
    ]);
    expect(keys()).toEqual([undefined]);
  });

  it('puts the id into the path, and leaves out what is undefined', async () => {
    service.script({ body: { data: [], next_cursor: null } });
    await service.client.call('listBatchLines', {
      id: 'bat_1/../x',
      query: { status: 'failed', limit: 5, cursor: undefined },
    });
    expect(service.calls[0]?.path).toBe('/v1/batches/bat_1%2F..%2Fx/lines?status=failed&limit=5');
  });

  it('returns the bytes of a file, and nothing for 204', async () => {
    service.script({ body: 'a,b\n' }, { status: 204, body: '' });
    const results = await service.client.call('getBatchResults', { id: 'bat_1' });
    expect(Buffer.from(results.body).toString()).toBe('a,b\n');
    expect((await service.client.call('deleteBatch', { id: 'bat_1' })).body).toBeUndefined();
  });

  it('uploads a file with its name, and its fields in the query', async () => {
    service.script({ status: 201, body: { batch_id: 'bat_1' } });
    await service.client.call('createBatch', {
      file: { bytes: Buffer.from('DE1\n'), name: 'ä.csv' },
      query: { label: 'Q 1' },
    });
    const [call] = service.calls;
    expect([call?.path, call?.headers['content-type']]).toEqual([
      '/v1/batches?label=Q+1',
      expect.stringMatching(/^multipart\/form-data; boundary=/),
    ]);
    expect(call?.body).toMatch(/name="file"; filename="ä\.csv"[\s\S]*DE1\n/);
  });

  it('is a ConnectionError when the answer to a check is none of the service', async () => {
    const answers = [200, 201, 202].map((status) => ({ status, body: {} }));
    service.script(...answers);
    for (const _ of answers)
      expect(await failure(service.client.check({ vat_number: 'DE100' }))).toBeInstanceOf(ConnectionError);
    expect(service.calls).toHaveLength(3);
    service.script({ body: {} });
    expect(await failure(service.client.waitForRequest('req_1'))).toBeInstanceOf(ConnectionError);
  });

  it('that lists rows ends with a ConnectionError when a cursor comes again or the page has no rows', async () => {
    const rows = async () => {
      for await (const { id } of service.client.list('listChecks')) expect(id).toBe('chk_1');
    };
    const page = { body: { data: [CHECK], next_cursor: 'c1' } };
    service.script(page, page);
    expect(await failure(rows())).toBeInstanceOf(ConnectionError);
    expect(service.calls).toHaveLength(2);
    const another = { body: { data: [CHECK], next_cursor: 'c2' } };
    service.script(page, another, page, another);
    expect(await failure(rows())).toBeInstanceOf(ConnectionError);
    expect(service.calls).toHaveLength(3);
    for (const body of [{}, { data: [CHECK] }]) {
      service.script({ body });
      expect(await failure(rows())).toBeInstanceOf(ConnectionError);
    }
  });

  it('that follows events ends with a ConnectionError when the answer has none, or one without an id', async () => {
    for (const body of [{}, { data: [{ type: 'webhook.test' }], last_event_id: null }]) {
      service.script({ body });
      const follow = async () => {
        for await (const event of service.client.events('start')) throw new Error(`${event.type} was handed out`);
      };
      expect(await failure(follow())).toBeInstanceOf(ConnectionError);
    }
  });

  it('that follows events is held by the service, whatever time-out is given', async () => {
    const [event, held, release] = [{ event_id: 'evt_1', body: {} }, new AbortController(), new AbortController()];
    const { url: baseUrl, close } = await openHttpServer(async ({ url }, response) => {
      if (!url?.startsWith('/v1/events')) return;
      held.abort();
      await once(release.signal, 'abort');
      response.end(JSON.stringify({ data: [event], last_event_id: 'evt_1' }));
    });
    const client = createClient({ apiKey: 'vat_test_key', baseUrl }, { sleep: async () => undefined });
    const follower = client.events('start', { timeoutMs: 10 });
    const next = follower[Symbol.asyncIterator]().next();
    await until('the held call', () => (held.signal.aborted ? true : null));
    // An attempt of the same length that began later is over.
    expect(await failure(client.call('getUsage', {}, { timeoutMs: 10 }))).toBeInstanceOf(ConnectionError);
    release.abort();
    expect(await next).toMatchObject({ value: event });
    await close();
  });

  it('that follows events hands out again the one whose handling failed', async () => {
    const [one, two, three] = ['evt_1', 'evt_2', 'evt_3'].map((event_id) => ({ event_id, body: {} }));
    const follower = service.client.events('start');
    const handled: string[] = [];
    const handle = async (failing: string) => {
      for await (const { event_id } of follower) {
        if (event_id === failing) throw new Error('The disk is full.');
        handled.push(event_id);
      }
    };
    service.script({ body: { data: [one, two, three], last_event_id: 'evt_3' } });
    expect(await failure(handle('evt_2'))).toMatchObject({ message: 'The disk is full.' });
    expect([handled, follower.after()]).toEqual([['evt_1'], 'evt_1']);
    service.script({ body: { data: [two, three], last_event_id: 'evt_3' } });
    await failure(handle('evt_3'));
    expect([handled, follower.after()]).toEqual([['evt_1', 'evt_2'], 'evt_2']);
    expect(service.calls.at(-1)?.path).toMatch(/after=evt_1$/);
  });

  it('is repeated with the same Idempotency-Key when no answer arrives, and with a given key', async () => {
    service.script('close', { status: 502, body: 'bad gateway' }, { status: 201, body: CHECK });
    await service.client.call('createCheck', { body: { vat_number: 'DE100' } });
    const [first, ...others] = keys();
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([others, service.waits]).toEqual([
      [first, first],
      [500, 1_000],
    ]);
    service.script({ status: 201, body: CHECK });
    await service.client.call('createCheck', { body: { vat_number: 'DE100' } }, { idempotencyKey: 'order-7' });
    expect(keys()).toEqual(['order-7']);
  });

  it('is repeated within the total time also where chance lengthens the wait', async () => {
    const connection = { apiKey: 'vat_test_key', baseUrl: service.baseUrl };
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const client = createClient(connection, { now: () => 0, sleep, random: () => 0.999 });
    service.script(refusal(429, 'TOO_MANY_PENDING', { retry_after: 110 }), { body: { used: 3 } });
    await client.call('getUsage');
    expect(waits).toEqual([120_000]);
  });

  it('without an Idempotency-Key is repeated only when nothing was done', async () => {
    service.script(refusal(429, 'RATE_LIMITED', { retry_after: 1 }), 'close');
    expect((await failure(service.client.call('sendTestEvent'))).name).toBe('ConnectionError');
    expect([service.calls.length, service.waits]).toEqual([2, [1_000]]);
  });

  it('that deletes is done when the object is gone after an attempt whose answer was lost', async () => {
    service.script('close', refusal(404, 'NOT_FOUND'));
    expect(await service.client.call('deleteWatch', { id: 'wat_1' })).toMatchObject({ status: 204, body: undefined });
    for (const script of [
      [refusal(404, 'NOT_FOUND')],
      [refusal(429, 'RATE_LIMITED', { retry_after: 1 }), refusal(404, 'NOT_FOUND')],
      ['close' as const, { status: 404, body: 'no such page' }],
    ]) {
      service.script(...script);
      expect((await failure(service.client.call('deleteWatch', { id: 'wat_1' }))).status).toBe(404);
      expect(service.calls).toHaveLength(script.length);
    }
  });

  it('to a server whose certificate is not trusted is not repeated', async () => {
    const authority = await createTestAuthority();
    const server = createServer(await authority.issue({ ip: ['127.0.0.1'] }));
    const { host, close } = await listenLocally(server.on('tlsClientError', () => undefined));
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const client = createClient({ apiKey: 'vat_test_key', baseUrl: `https://${host}` }, { now: () => 0, sleep });
    expect(await failure(client.call('getUsage'))).toMatchObject({ message: expect.stringContaining('certificate') });
    expect(waits).toEqual([]);
    await close();
  });

  it('with a header that cannot be sent is a TypeError at once', async () => {
    service.script();
    const call = service.client.call('createCheck', { body: { vat_number: 'DE100' } }, { idempotencyKey: 'σειρά-7' });
    expect(await failure(call)).toBeInstanceOf(TypeError);
    expect([service.calls, service.waits]).toEqual([[], []]);
  });

  it('that changes or deletes is repeated without an Idempotency-Key, as it does no harm when it is executed twice', async () => {
    service.script('close', { body: { watch_id: 'wat_1' } }, 'close', { status: 204, body: '' });
    await service.client.call('updateWatch', { id: 'wat_1', body: { status: 'paused' } });
    await service.client.call('deleteWatch', { id: 'wat_1' });
    expect(service.calls.map(({ method }) => method)).toEqual(['PATCH', 'PATCH', 'DELETE', 'DELETE']);
    expect(keys()).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('that is refused rejects with code, fields and the id of the call', async () => {
    service.script(refusal(429, 'QUOTA_EXCEEDED', { reset_at: '2026-12-01T00:00:00.000Z' }));
    expect(await failure(service.client.check({ vat_number: 'DE100' }))).toMatchObject({
      ...{ name: 'ApiError', status: 429, code: 'QUOTA_EXCEEDED', message: 'QUOTA_EXCEEDED happened.' },
      ...{ fields: { reset_at: '2026-12-01T00:00:00.000Z' }, requestId: 'call-1' },
    });
    expect(service.calls).toHaveLength(1);
  });

  it('does not follow a redirect, which could change the method, and says where it points', async () => {
    service.script({ status: 301, headers: { Location: 'https://vat.example.com/v1/usage' } });
    expect(await failure(service.client.call('getUsage'))).toMatchObject({
      code: 'HTTP_301',
      message: expect.stringContaining('redirects to https://vat.example.com/v1/usage'),
    });
  });

  it('to something that is not the service says so', async () => {
    service.script({ body: '<html>' }, { status: 404, body: '<html>' });
    expect((await failure(service.client.call('getUsage'))).message).toMatch(/answered without JSON/);
    expect(await failure(service.client.call('getUsage'))).toMatchObject({ code: 'HTTP_404' });
    service.script({ headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: '<html>' });
    const error = await failure(service.client.call('getBatchResults', { id: 'bat_1' }));
    expect([error.name, error.message]).toEqual(['ConnectionError', expect.stringMatching(/with a page of HTML/)]);
  });

  it('with an empty id is refused, because its path would be that of the list', async () => {
    service.script();
    expect((await failure(service.client.call('getCheck', { id: '' }))).message).toBe('The id is empty.');
    expect(service.calls).toEqual([]);
  });

  it('ends with the reason of its signal while it waits for the next attempt', async () => {
    const stopping = new AbortController();
    service.script({ status: 503, body: {} }, { body: {} });
    const sleep = async (_ms: number, signal?: AbortSignal) => {
      stopping.abort(new Error('enough'));
      signal?.throwIfAborted();
    };
    const client = createClient({ apiKey: 'vat_test_key', baseUrl: service.baseUrl }, { sleep });
    expect((await failure(client.call('getUsage', {}, { signal: stopping.signal }))).message).toBe('enough');
    expect(service.calls).toHaveLength(1);
  });

  it('that takes too long is no answer', async () => {
    // Its own service, because calls may arrive after they were given up.
    const { client, script, waits, close } = await openScriptedService();
    script(...new Array<'wait'>(6).fill('wait'));
    expect(await failure(client.call('getUsage', {}, { timeoutMs: 0 }))).toBeInstanceOf(ConnectionError);
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
    await close();
  });
});

describe('check', () => {
  it('returns the check of a 201', async () => {
    service.script({ status: 201, body: CHECK });
    expect(await service.client.check({ vat_number: 'DE100' })).toEqual(CHECK);
    expect(service.waits).toEqual([]);
  });

  it('waits for the end of a 202', async () => {
    service.script(
      { status: 202, headers: { 'Retry-After': '2' }, body: ACCEPTED },
      { body: { id: 'req_1', status: 'pending', check: null } },
      { body: { id: 'req_1', status: 'completed', check: CHECK } },
    );
    expect(await service.client.check({ vat_number: 'DE100' })).toEqual(CHECK);
    expect(service.calls.map(({ path }) => path)).toEqual(['/v1/checks', '/v1/requests/req_1', '/v1/requests/req_1']);
    expect(service.waits).toEqual([2_000, 2_000]);
  });

  it('rejects with the request when it was abandoned, and with its id when it is still pending', async () => {
    const abandoned = { id: 'req_1', status: 'abandoned', reason: 'UPSTREAM_NO_ANSWER', check: null };
    service.script({ status: 202, body: ACCEPTED }, { body: abandoned });
    const error = await failure(service.client.check({ vat_number: 'DE100' }));
    expect(error).toBeInstanceOf(AbandonedError);
    expect(error.request).toEqual(abandoned);
    service.script({ status: 202, body: ACCEPTED });
    const pending = await failure(service.client.check({ vat_number: 'DE100' }, { waitMs: 0 }));
    expect(pending).toBeInstanceOf(PendingError);
    expect(pending.requestId).toBe('req_1');
  });
});

describe('a wait', () => {
  const failing = new Array<ReturnType<typeof refusal>>(6).fill(refusal(500, 'INTERNAL'));

  it('outlasts an outage of the service', async () => {
    const completed = { batch_id: 'bat_1', status: 'completed', eta: null };
    service.script({ status: 202, body: ACCEPTED }, ...failing, 'close', {
      body: { status: 'completed', check: CHECK },
    });
    const ids: string[] = [];
    const onPending = (id: string) => void ids.push(id);
    expect([await service.client.check({ vat_number: 'DE100' }, { onPending }), ids]).toEqual([CHECK, ['req_1']]);
    service.script(...failing, { body: completed });
    expect(await service.client.waitForBatch('bat_1')).toEqual(completed);
  });

  it('ends with the id of the request when the service does not come back, and at once when it refuses', async () => {
    service.script({ status: 202, body: ACCEPTED }, ...failing, ...failing);
    expect(await failure(service.client.check({ vat_number: 'DE100' }, { waitMs: 6_000 }))).toMatchObject({
      ...{ name: 'PendingError', requestId: 'req_1' },
    });
    // Near the end of the wait a read takes ten seconds at most.
    expect(service.waits).toEqual([5_000, 500, 1_000, 2_000, 4_000]);
    service.script({ status: 202, body: ACCEPTED }, refusal(401, 'UNAUTHORIZED'));
    expect(await failure(service.client.check({ vat_number: 'DE100' }))).toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

describe('waitForBatch', () => {
  it('reports progress until the batch is completed', async () => {
    const batch = (status: string, done: number) => ({ body: { batch_id: 'bat_1', status, done, eta: null } });
    service.script(batch('queued', 0), batch('running', 2), batch('completed', 3));
    const progress: number[] = [];
    const onProgress = ({ done }: { done: number }) => void progress.push(done);
    expect(await service.client.waitForBatch('bat_1', { onProgress })).toMatchObject({ status: 'completed' });
    expect([progress, service.waits]).toEqual([
      [0, 2, 3],
      [1_000, 15_000],
    ]);
  });

  it('reads again at its interval after an answer that is no batch', async () => {
    const completed = { batch_id: 'bat_1', status: 'completed', eta: null };
    service.script({ body: {} }, { body: {} }, { body: completed });
    expect(await service.client.waitForBatch('bat_1')).toEqual(completed);
    expect(service.waits).toEqual([1_000, 1_000]);
  });

  it('reads the batch before it waits, and once where there is no time to wait', async () => {
    const read = (status: string) => ({ body: { batch_id: 'bat_1', status, eta: null } });
    service.script(read('completed'));
    expect(await service.client.waitForBatch('bat_1', { waitMs: 0 })).toMatchObject({ status: 'completed' });
    service.script(read('running'));
    expect(await failure(service.client.waitForBatch('bat_1', { waitMs: 0 }))).toMatchObject({
      ...{ name: 'BatchPendingError', batchId: 'bat_1' },
    });
    expect([service.calls.length, service.waits]).toEqual([1, []]);
  });
});

describe('connectionFrom', () => {
  const env = { VAT_API_KEY: ' vat_live_abc\n', VAT_API_URL: 'https://vat.example.com/base/v1/' };

  it('reads the variables, and lets what is given take precedence', () => {
    expect(connectionFrom(env)).toEqual({ apiKey: 'vat_live_abc', baseUrl: 'https://vat.example.com/base' });
    expect(connectionFrom(env, { baseUrl: 'http://[::1]:3000' }).baseUrl).toBe('http://[::1]:3000');
  });

  it.each([
    [{ ...env, VAT_API_URL: '' }, /Set VAT_API_URL/],
    [{ ...env, VAT_API_KEY: undefined }, /Set VAT_API_KEY/],
    [{ ...env, VAT_API_URL: 'vat.example.com' }, /"vat\.example\.com" is not the address/],
    [{ ...env, VAT_API_URL: 'ftp://vat.example.com' }, /is not the address/],
    [{ ...env, VAT_API_KEY: 'whsec_MDAw' }, /does not begin with vat_live_ or vat_test_/],
  ])('%j says what to do', (wrong, why) => {
    expect(() => connectionFrom(wrong)).toThrow(why);
    expect(() => connectionFrom(wrong)).not.toThrow(/whsec_MDAw/);
  });
});
