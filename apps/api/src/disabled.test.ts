import { hashApiKey } from '@vat/domain';
import { connectRedis } from '@vat/queues';
import { startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const PASSWORD = 'a password nobody else has';

let world: World;
let caller: () => ReturnType<World['http']>;
let account: string;
let keys: string[];
beforeAll(async () => {
  world = await startWorld({
    settings: { UPSTREAM_WINDOW: '1s', BACKGROUND_RETRY_DELAYS: '10m', LOG_LEVEL: 'debug' },
  });
  const person = ['--name', 'Test', '--email', 'test@example.com', '--password', PASSWORD, '--plan', 'business'];
  const made = await world.admin('account', 'create', ...person);
  account = String(made.account_id);
  keys = [String(made.live_key), String(made.test_key)];
  caller = await crowd(world, account);
});
afterAll(() => world?.stop());

const check = (body: object, key?: string) => {
  const call = caller().post('/v1/checks', body);
  return key === undefined ? call : call.set('Idempotency-Key', key);
};

test('a disabled account starts no work, can still read, and its pending work ends; enabled again, it works', async () => {
  const body = { vat_number: 'NL123456789B01' };
  const stored = await check(body, 'before').expect(201);
  await world.vies.script('DE136695976', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  const { body: pending } = await check({ vat_number: 'DE136695976' }).expect(202);

  await world.admin('account', 'disable', account);
  const disabledAt = performance.now();
  const refused = await until(
    'calls to be refused',
    async () => {
      const answer = await check({ vat_number: 'DE1' });
      return answer.status === 403 && answer;
    },
    5_000,
  );
  expect(refused.body).toEqual({ error: { code: 'ACCOUNT_DISABLED', message: expect.any(String) } });
  // The body is validated first, then the Idempotency-Key.
  expect((await check({ vat_number: 5 })).body.error.code).toBe('BAD_REQUEST');
  expect((await check({ vat_number: 'GB123456789' })).body.error.code).toBe('BAD_REQUEST');
  expect((await check(body, 'before')).body.error.code).toBe('ACCOUNT_DISABLED');
  expect((await check({ vat_number: 'DE2' }, 'before')).body.error.code).toBe('ACCOUNT_DISABLED');

  expect((await caller().get(`/v1/checks/${stored.body.id}`)).body).toEqual(stored.body);
  for (const path of ['/v1/checks', '/v1/usage', `/v1/checks/${stored.body.id}/evidence`]) {
    await caller().get(path).expect(200);
  }

  const ended = await until(
    'the pending request to end',
    async () => {
      const request = (await caller().get(`/v1/requests/${pending.request_id}`)).body;
      return request.status !== 'pending' && request;
    },
    20_000,
  );
  expect(performance.now() - disabledAt).toBeLessThan(20_000);
  expect(ended).toMatchObject({ status: 'abandoned', reason: 'ACCOUNT_DISABLED', check: null });
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 1, reserved: 0 });
  const events = await world.sql<{ body: string }>(`SELECT body FROM event WHERE body::jsonb ->> 'request_id' = $1`, [
    pending.request_id,
  ]);
  expect(events.map((event) => JSON.parse(event.body))).toEqual([
    {
      event: 'check.failed',
      request_id: pending.request_id,
      reason: 'ACCOUNT_DISABLED',
      last_error: 'MS_UNAVAILABLE',
    },
  ]);

  await world.admin('account', 'enable', account);
  await until('calls to be accepted', async () => (await check({ vat_number: 'DE1' })).status === 201, 5_000);
  const replay = await check(body, 'before');
  expect([replay.status, replay.text]).toEqual([201, stored.text]);
});

test('no key, hash of a key or password reaches a log line or Redis', async () => {
  await Promise.all(keys.map((key) => world.http(key).post('/v1/checks', { vat_number: 'FI20774740' }).expect(201)));
  await world.http(keys[0]).get(`/v1/checks?reference=x`).expect(200);
  const hashes = keys.map((key) => Buffer.from(hashApiKey(key)));
  const secrets = [
    ...keys,
    ...keys.map((key) => key.slice(9, 39)),
    PASSWORD,
    ...hashes.flatMap((hash) => [hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')]),
  ];
  const logs = [...world.apis, ...world.workers].flatMap((process) => process.lines()).join('\n');
  const redis = await dumpRedis(world.settings.REDIS_URL ?? '', world.settings.REDIS_PREFIX ?? '');
  expect(logs).toContain('Answered a request.');
  expect(redis.length).toBeGreaterThan(1_000);
  for (const secret of secrets) {
    expect(logs.includes(secret)).toBe(false);
    expect(redis.includes(secret)).toBe(false);
  }
});

/** The names and contents of all Redis keys, as one text. */
const dumpRedis = async (url: string, prefix: string): Promise<string> => {
  const redis = connectRedis(url, 'consumer', () => undefined);
  if (!('scanStream' in redis)) throw new Error('this test reads one Redis, not a cluster');
  const readers: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  try {
    const found: string[] = [];
    for await (const names of redis.scanStream({ match: `*${prefix}*`, count: 1_000 }) as AsyncIterable<string[]>) {
      for (const name of names) {
        const type = await redis.type(name);
        if (type === 'none') continue;
        const read = readers[type];
        if (!read) throw new Error(`${name} is a ${type}, which this test cannot read`);
        found.push(JSON.stringify([name, await read(name)]));
      }
    }
    return found.join('\n');
  } finally {
    redis.disconnect();
  }
};
