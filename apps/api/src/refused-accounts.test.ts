import { hashApiKey, newUuid, uuidOf } from '@vat/domain';
import { openWorldRedis, startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    settings: { UPSTREAM_WINDOW: '1s', BACKGROUND_RETRY_DELAYS: '10m', LOG_LEVEL: 'debug' },
  });
});
afterAll(() => world?.stop());

describe('an account that is disabled', () => {
  const PASSWORD = 'a password nobody else has';
  let caller: () => ReturnType<World['http']>;
  let account: string;
  let keys: string[];
  beforeAll(async () => {
    const person = ['--name', 'Test', '--email', 'test@example.com', '--password', PASSWORD, '--plan', 'business'];
    const made = await world.admin('account', 'create', ...person);
    account = String(made.account_id);
    keys = [String(made.live_key), String(made.test_key)];
    caller = await crowd(world, account);
  });

  const check = (body: object, key?: string) => {
    const call = caller().post('/v1/checks', body);
    return key === undefined ? call : call.set('Idempotency-Key', key);
  };

  test('starts no work, can still read, and its pending work ends; enabled again, it works', async () => {
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
    // Each key is accepted within five seconds, not all at the same time.
    const replay = await until(
      'the stored response',
      async () => {
        const answer = await check(body, 'before');
        return answer.status === 201 && answer;
      },
      5_000,
    );
    expect(replay.text).toBe(stored.text);
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
    const worldRedis = await openWorldRedis(world);
    const redis = await worldRedis.text().finally(worldRedis.close);
    expect(logs).toContain('Answered a request.');
    expect(redis.length).toBeGreaterThan(1_000);
    for (const secret of secrets) {
      expect(logs.includes(secret)).toBe(false);
      expect(redis.includes(secret)).toBe(false);
    }
  });
});

describe('an account with many pending requests', () => {
  const MOST = 200;
  const RACING = 20;
  const ROOM = 6;

  let caller: () => ReturnType<World['http']>;
  let account: string;
  let answers: { status: number; body: { error: Record<string, unknown> }; headers: Record<string, string> }[];

  const pending = async () =>
    (
      await world.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM request WHERE account_id = $1 AND state = 'pending'`,
        [account],
      )
    )[0]?.n;

  beforeAll(async () => {
    caller = await crowd(world, world.account.account_id);
    account = uuidOf('account', world.account.account_id) ?? '';
    await world.sql(
      `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
         window_ends_at, accepted_at, give_up_at, due_at)
       SELECT id, $1, false, 'pending', 'DE136695976', 'DE', '136695976', 'DE136695976', '[]', now(), now(),
         now(), now() + interval '1 day', now() + interval '1 hour'
       FROM unnest($2::uuid[]) AS id`,
      [account, Array.from({ length: MOST - ROOM }, newUuid)],
    );
    await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
    answers = await Promise.all(
      Array.from({ length: RACING }, async (_, n) =>
        caller().post('/v1/checks', { vat_number: `DE${300_000_000 + n}` }),
      ),
    );
  });

  test('calls that become pending concurrently never exceed 200 pending requests', async () => {
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(ROOM);
    expect(await pending()).toBe(MOST);
  });

  test('calls beyond the limit are refused with the attempts that were made, and hold no unit', async () => {
    const refused = answers.filter(({ status }) => status !== 202);
    expect(refused).toHaveLength(RACING - ROOM);
    for (const { status, body, headers } of refused) {
      expect(status).toBe(429);
      expect(body.error).toMatchObject({ code: 'TOO_MANY_PENDING', pending: MOST, checks: expect.any(Array) });
      expect(body.error.retry_after).toBeGreaterThan(0);
      expect(headers['retry-after']).toBe(String(body.error.retry_after));
    }
    expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 0, reserved: ROOM });
  });

  test('a call while 200 requests are pending is refused immediately, without a lookup', async () => {
    const startedAt = performance.now();
    const { status, body, headers } = await caller().post('/v1/checks', { vat_number: 'FR83404833048' });
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(status).toBe(429);
    expect(body.error).toMatchObject({ code: 'TOO_MANY_PENDING', pending: MOST });
    expect(headers['retry-after']).toBe(String(body.error.retry_after));
    expect(await world.vies.journal('FR83404833048')).toEqual([]);
  });

  test('the Idempotency-Key of a refused call can be used by another call', async () => {
    const key = 'refused-at-200';
    const call = () => caller().post('/v1/checks', { vat_number: 'FR83404833048' }).set('Idempotency-Key', key);
    expect((await call()).body.error.code).toBe('TOO_MANY_PENDING');
    expect((await call()).body.error.code).toBe('TOO_MANY_PENDING');
    const other = await caller().post('/v1/checks', { vat_number: 'DE1' }).set('Idempotency-Key', key);
    expect(other.status).toBe(201);
  });

  test('a malformed number is still answered, and lists still work', async () => {
    const { status, body } = await caller().post('/v1/checks', { vat_number: 'DE12' });
    expect([status, body.verdict]).toEqual([201, 'malformed']);
    await caller().get('/v1/checks').expect(200);
  });

  test('the pending requests of other accounts do not count', async () => {
    const other = await world.newAccount();
    await world.vies.answerAll(null);
    const { status } = await world.http(other.live_key).post('/v1/checks', { vat_number: 'NL123456789B01' });
    expect(status).toBe(201);
  });
});
