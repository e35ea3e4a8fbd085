import { openWorldRedis, startWorld, until, type World } from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld({ settings: { AUDIT_EVERY: '500ms' } });
});
afterAll(() => world?.stop());

const uuidOfAccount = async (): Promise<string> =>
  (await world.sql<{ account_id: string }>('SELECT account_id FROM api_key LIMIT 1'))[0]?.account_id ?? '';

const figure = async (name: RegExp): Promise<number | undefined> => {
  const text = await (await fetch(`http://127.0.0.1:${String(world.workers[0]?.ready.metrics_port)}/metrics`)).text();
  const [, value] = new RegExp(`^${name.source} (\\d+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
};
const differences = () => figure(/vat_usage_differences\S*/);

test('the usage of one month does not count in the next', async () => {
  const { account_id, live_key } = await world.newAccount({ quota: '3' });
  expect(account_id).toMatch(/^acc_/);
  const last = new Date();
  last.setUTCDate(0); // the last day of the month before
  await world.sql(
    `INSERT INTO usage (account_id, period, used, reserved) SELECT account_id, $1, 3, 0 FROM api_key
     WHERE hash = sha256(convert_to($2, 'UTF8'))`,
    [last.toISOString().slice(0, 7), live_key],
  );
  await world.http(live_key).post('/v1/checks', { vat_number: 'FR40303265045' }).expect(201);
  const { body } = await world.http(live_key).get('/v1/usage');
  expect(body).toMatchObject({ period: new Date().toISOString().slice(0, 7), limit: 3, used: 1, reserved: 0 });
  const reset = new Date(body.reset_at);
  expect([reset.getUTCDate(), reset.getUTCHours(), reset.getUTCMinutes()]).toEqual([1, 0, 0]);
  expect(reset.getTime()).toBeGreaterThan(Date.now());
});

test('the audit finds counters that differ from their ledger, and reports the account', async () => {
  await world.http().post('/v1/checks', { vat_number: 'ATU13585627' }).expect(201);
  await until('an audit', async () => (await differences()) === 0);
  await world.sql('UPDATE usage SET used = used + 1 WHERE account_id = $1 AND period = $2', [
    await uuidOfAccount(),
    new Date().toISOString().slice(0, 7),
  ]);
  // The account of the test above has its row of last month without a ledger: only the current month is audited.
  await until('the alarm', async () => ((await differences()) ?? 0) > 0);
  const [worker] = world.workers;
  const alarm = await until('the line', () =>
    worker?.lines().find((line) => line.includes('usage counters of an account differ')),
  );
  expect(JSON.parse(alarm)).toMatchObject({ level: 'error', account_id: await uuidOfAccount(), used: 2, consumed: 1 });
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
