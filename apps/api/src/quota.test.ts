import { newUuidAt, uuidOf } from '@vat/domain';
import { openWorldRedis, startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
beforeAll(async () => {
  // Each call that gets a unit must get its check too, however busy the machine is.
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '15s', AUDIT_EVERY: '500ms' } });
});
afterAll(() => world?.stop());

const numbers = (count: number, from: number) => Array.from({ length: count }, (_, n) => `DE${from + n}`);
const monthPeriod = () => new Date().toISOString().slice(0, 7);
const monthEnd = () => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
};

test('of 50 concurrent calls for 5 units exactly 5 are checked; the others are refused with the time to retry', async () => {
  const { account_id: id } = await world.newAccount({ quota: '5' });
  const caller = await crowd(world, id);
  const answers = await Promise.all(
    numbers(50, 200_000_000).map((vatNumber) => caller().post('/v1/checks', { vat_number: vatNumber })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(45);
  for (const { body } of refused) {
    expect(body).toEqual({ error: { code: 'QUOTA_EXCEEDED', message: expect.any(String), reset_at: monthEnd() } });
  }
  expect((await caller().get('/v1/usage')).body).toEqual({
    period: monthPeriod(),
    plan: 'business',
    limit: 5,
    used: 5,
    reserved: 0,
    reset_at: monthEnd(),
  });
  expect((await caller().get('/v1/checks')).body.data).toHaveLength(5);
  const [ledger] = await world.sql<{ units: number }>(
    `SELECT count(*)::int AS units FROM usage_entry JOIN "check" ON id = check_id WHERE usage_entry.account_id = $1`,
    [uuidOf('account', id)],
  );
  expect(ledger?.units).toBe(5);
});

test('calls that wait for the units of one account leave connections to the others', async () => {
  const [{ account_id: id }, other] = [await world.newAccount(), await world.newAccount()];
  const caller = await crowd(world, id);
  await caller().post('/v1/checks', { vat_number: 'DE300000000' }).expect(201);
  // As a large upload does while it reserves its units.
  const held = world
    .sql(
      `DO $$ BEGIN PERFORM FROM usage WHERE account_id = '${uuidOf('account', id)}' FOR UPDATE; PERFORM pg_sleep(60); END $$`,
    )
    .then(
      () => 'ended',
      () => 'ended',
    );
  const waiting = async () => {
    const rows = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.n ?? 0;
  };
  const holder = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'DO %' AND wait_event = 'PgSleep'`;
  try {
    await until('the lock', async () => (await world.sql(holder.replace('pg_cancel_backend(pid)', '1'))).length === 1);
    // Each ends with 500 when it has waited for 1.5 s.
    const calls = numbers(40, 300_000_001).map((vatNumber) => caller().post('/v1/checks', { vat_number: vatNumber }));
    const ended = Promise.all(calls);
    await until('ten calls to wait', async () => (await waiting()) >= 10);
    const { status } = await world.http(other.live_key).post('/v1/checks', { vat_number: 'DE300000100' });
    expect(status).toBe(201);
    // Half of DATABASE_CONNECTIONS.
    expect(await waiting()).toBeLessThanOrEqual(10);
    await world.sql(holder);
    await ended;
  } finally {
    await world.sql(holder);
    await held;
  }
});

test('an invalid number consumes one unit, although it needs two lookups', async () => {
  const { account_id: id } = await world.newAccount();
  const caller = await crowd(world, id);
  await world.vies.script('FR83404833049', ['invalid']);
  await caller().post('/v1/checks', { vat_number: 'FR83404833049', reference: 'twice' }).expect(201);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 1, reserved: 0 });
});

test('a change of plan changes the limit within five seconds', async () => {
  const { account_id: id } = await world.newAccount({ plan: 'free' });
  // Enough keys for the calls that the test makes while it waits.
  const caller = await crowd(world, id, { keys: 100 });
  const usage = async () => (await caller().get('/v1/usage')).body;
  expect(await usage()).toMatchObject({ plan: 'free', limit: 100 });
  expect(await world.admin('account', 'set-plan', id, 'starter')).toEqual({ account_id: id, plan: 'starter' });
  await until('the new plan', async () => (await usage()).limit === 2_000, 5_000);
  expect((await usage()).plan).toBe('starter');
});

test('the usage of one month does not count in the next', async () => {
  const { account_id, live_key } = await world.newAccount({ quota: '3' });
  const last = new Date();
  last.setUTCDate(0); // the last day of the month before
  // With its ledger: in the first ten days of a month the audit counts the month before as well.
  await world.sql(
    `WITH before AS (
       INSERT INTO usage (account_id, period, used, reserved) VALUES ($1, $2, 3, 0) RETURNING account_id, period
     )
     INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
     SELECT id, account_id, period, now() FROM before, unnest($3::uuid[]) AS id`,
    [uuidOf('account', account_id), last.toISOString().slice(0, 7), [1, 2, 3].map(() => newUuidAt(last))],
  );
  await world.http(live_key).post('/v1/checks', { vat_number: 'FR40303265045' }).expect(201);
  const { body } = await world.http(live_key).get('/v1/usage');
  expect(body).toMatchObject({ period: new Date().toISOString().slice(0, 7), limit: 3, used: 1, reserved: 0 });
  const reset = new Date(body.reset_at);
  expect([reset.getUTCDate(), reset.getUTCHours(), reset.getUTCMinutes()]).toEqual([1, 0, 0]);
  expect(reset.getTime()).toBeGreaterThan(Date.now());
});

const figure = async (name: RegExp): Promise<number | undefined> => {
  const text = await (await fetch(`http://127.0.0.1:${String(world.workers[0]?.ready.metrics_port)}/metrics`)).text();
  const [, value] = new RegExp(`^${name.source} (\\d+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
};
const differences = () => figure(/vat_usage_differences\S*/);

test('the audit finds counters that differ from their ledger, and reports the account', async () => {
  await world.http().post('/v1/checks', { vat_number: 'ATU13585627' }).expect(201);
  await until('an audit', async () => (await differences()) === 0);
  await world.sql('UPDATE usage SET used = used + 1 WHERE account_id = $1 AND period = $2', [
    uuidOf('account', world.account.account_id),
    new Date().toISOString().slice(0, 7),
  ]);
  await until('the alarm', async () => ((await differences()) ?? 0) > 0);
  const [worker] = world.workers;
  const alarm = await until('the line', () =>
    worker?.lines().find((line) => line.includes('usage counters of an account differ')),
  );
  expect(JSON.parse(alarm)).toMatchObject({
    level: 'error',
    account_id: world.account.account_id,
    used: 2,
    consumed: 1,
  });
});

test('a failed audit is left to the next one, and does not accumulate before the sweeps', async () => {
  const redis = await openWorldRedis(world);
  await world.sql('ALTER TABLE usage_entry RENAME TO usage_entry_away');
  try {
    await until('failures', async () => ((await figure(/vat_job_errors_total\S*maintenance\S*/)) ?? 0) >= 5);
    const audits = (await redis.keys()).filter((key) => /:repeat:audit:\d+$/.test(key));
    // The next one and a running one.
    expect(audits.length).toBeLessThanOrEqual(2);
  } finally {
    await world.sql('ALTER TABLE usage_entry_away RENAME TO usage_entry');
    redis.close();
  }
});
