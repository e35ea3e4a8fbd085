import { createHash } from 'node:crypto';
import { isApiKeyForm } from '@vat/domain';
import { runProgram, skewedClock, startWorld, until, type World } from '@vat/testkit';
import { UsageError } from './command.js';
import { runCommand } from './run-command.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let world: World;
beforeAll(async () => {
  world = await startWorld({ settings: { WATCHES_EVERY: '300ms' } });
});
afterAll(() => world?.stop());

const noInput = () => Promise.reject(new Error('nothing is read from standard input'));

/** The error message of a command, run in this process for speed. One test below covers the printed form. */
const refusal = (...words: string[]) =>
  runCommand(words, world.settings, noInput).then(
    (answer) => `accepted: ${JSON.stringify(answer)}`,
    (error: unknown) => (error instanceof UsageError ? error.message : `failed: ${String(error)}`),
  );
const flagsOf = (flags: Record<string, string>) =>
  Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);

/** The answer of a command as it would be printed, run in this process for speed. */
const answerTo = async (...words: string[]) =>
  JSON.parse(JSON.stringify(await runCommand(words, world.settings, noInput)));

/** Runs the program and returns its exit code and answer. Expects exactly one JSON object on stdout. */
const admin = async (...words: string[]) => {
  const { code, stdout, stderr } = await runProgram('apps/admin/dist/main.js', words, world.settings, true);
  const lines = stdout.trimEnd().split('\n');
  expect([lines.length, stderr]).toEqual([1, '']);
  return { code, answer: JSON.parse(lines[0] ?? '') };
};
const create = (flags: Record<string, string>) => answerTo('account', 'create', ...flagsOf(flags));
const createByProgram = (flags: Record<string, string>) => admin('account', 'create', ...flagsOf(flags));
const person = (email: string) => ({ name: 'Ada', email, password: 'a long password' });
const statusOf = async (key: string) => (await world.http(key).get('/v1/usage')).status;

describe('account create', () => {
  test('prints the account and two well-formed keys that work at once', async () => {
    const { code, answer } = await createByProgram({ ...person('ada@example.com'), plan: 'starter', quota: '7' });
    expect(code).toBe(0);
    expect(Object.keys(answer)).toEqual(['account_id', 'live_key', 'test_key']);
    expect(answer.account_id).toMatch(/^acc_[0-9a-z]{26}$/);
    expect(answer.live_key).toMatch(/^vat_live_[0-9A-Za-z]{36}$/);
    expect(answer.test_key).toMatch(/^vat_test_[0-9A-Za-z]{36}$/);
    expect([answer.live_key, answer.test_key].map(isApiKeyForm)).toEqual([true, true]);
    const usage = await world.http(answer.live_key).get('/v1/usage');
    expect(usage.body).toMatchObject({ plan: 'starter', limit: 7, used: 0, reserved: 0 });
    expect(await statusOf(answer.test_key)).toBe(200);
  });

  test('stores only hashes: no table contains a key or a password', async () => {
    const password = 'a password nobody else has';
    const answer = await create({ ...person('hashes@example.com'), password });
    const tables = await world.sql<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(tables.length).toBeGreaterThan(5);
    const rows = (
      await Promise.all(tables.map(({ name }) => world.sql<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`)))
    )
      .flat()
      .map(({ row }) => row)
      .join('\n');
    for (const secret of [answer.live_key, answer.test_key, password]) {
      expect(rows.includes(secret)).toBe(false);
      expect(rows.includes(Buffer.from(secret).toString('hex'))).toBe(false);
    }
    expect(rows).toContain(createHash('sha256').update(answer.live_key).digest('hex'));
    expect(rows).toContain('$argon2id$');
  });

  test('uses the plan free by default', async () => {
    const answer = await create(person('free@example.com'));
    expect((await world.http(answer.live_key).get('/v1/usage')).body).toMatchObject({ plan: 'free', limit: 100 });
  });

  test('rejects an e-mail address that is taken, in any letter case', async () => {
    await create(person('twice@example.com'));
    const { code, answer } = await createByProgram(person('Twice@Example.com'));
    expect([code, answer.error.code]).toEqual([1, 'USAGE']);
    expect(answer.error.message).toMatch(/taken/);
  });

  test.each([
    [{ ...person('x@example.com'), plan: 'gold' }, /gold/],
    [{ ...person('x@example.com'), quota: '-1' }, /quota/i],
    [{ ...person('x@example.com'), quota: '1.5' }, /quota/i],
    [{ ...person('x@example.com'), quota: '' }, /quota/i],
    [{ ...person('x@example.com'), name: ' ' }, /name/],
    [{ ...person('x@example.com'), name: 'Evil\r\nBcc: x@evil.example' }, /--name has a line break/],
    [{ ...person('x@example.com'), quota: '99999999999' }, /quota/i],
    [{ ...person('x@example.com'), quota: 'many' }, /quota/i],
    [person('nonsense'), /e-mail/],
    [{ ...person('x@example.com'), password: 'short' }, /password/],
    [{ name: 'x', email: 'x@example.com' }, /password/],
    [{ email: 'x@example.com', password: 'a long password' }, /name/],
    [{ ...person('x@example.com'), surprise: '1' }, /surprise/],
  ])('%j is refused and says why', async (flags, why) => {
    expect(await refusal('account', 'create', ...flagsOf(flags))).toMatch(why);
  });
});

test('account list prints every account in order of creation, without secrets', async () => {
  const made = await create({ ...person('listed@example.com'), quota: '3' });
  const { code, answer } = await admin('account', 'list');
  expect(code).toBe(0);
  const ids = answer.accounts.map(({ account_id: id }: { account_id: string }) => id);
  expect(ids[0]).toBe(world.account.account_id);
  expect(answer.accounts.at(-1)).toEqual({
    account_id: made.account_id,
    name: 'Ada',
    owners: ['listed@example.com'],
    plan: 'free',
    quota: 3,
    disabled_at: null,
    created_at: expect.stringMatching(TIME),
  });
  expect(JSON.stringify(answer)).not.toMatch(/argon2|vat_live|vat_test/);
});

test('disable and enable report the new state, and account list shows it', async () => {
  const made = await create(person('off@example.com'));
  const off = await answerTo('account', 'disable', made.account_id);
  expect(off).toEqual({ account_id: made.account_id, disabled_at: expect.stringMatching(TIME) });
  const listed = async () =>
    (await answerTo('account', 'list')).accounts.find(
      ({ account_id: id }: { account_id: string }) => id === made.account_id,
    );
  expect((await listed()).disabled_at).toBe(off.disabled_at);
  // Such as by a script that is run again: the time when it began stays.
  expect(await answerTo('account', 'disable', made.account_id)).toEqual(off);
  expect((await listed()).disabled_at).toBe(off.disabled_at);
  const on = await answerTo('account', 'enable', made.account_id);
  expect(on).toEqual({ account_id: made.account_id, disabled_at: null });
  expect((await listed()).disabled_at).toBeNull();
});

test('set-plan changes the plan', async () => {
  const made = await create(person('plan@example.com'));
  const answer = await answerTo('account', 'set-plan', made.account_id, 'enterprise');
  expect(answer).toEqual({ account_id: made.account_id, plan: 'enterprise' });
  expect((await world.http(made.live_key).get('/v1/usage')).body.limit).toBe(1_000_000);
});

test('key create makes live and test keys; key revoke takes effect within five seconds and can be repeated', async () => {
  const live = await answerTo('key', 'create', world.account.account_id);
  const test = await answerTo('key', 'create', world.account.account_id, '--test');
  expect(Object.keys(live)).toEqual(['key_id', 'key']);
  expect([live.key_id, test.key_id].join()).toMatch(/^key_[0-9a-z]{26},key_[0-9a-z]{26}$/);
  expect([live.key.slice(0, 9), test.key.slice(0, 9)]).toEqual(['vat_live_', 'vat_test_']);
  expect([isApiKeyForm(live.key), isApiKeyForm(test.key)]).toEqual([true, true]);
  expect([await statusOf(live.key), await statusOf(test.key)]).toEqual([200, 200]);

  const revoked = { key_id: live.key_id, revoked: true };
  expect(await answerTo('key', 'revoke', live.key_id)).toEqual(revoked);
  await until('the key to stop working', async () => (await statusOf(live.key)) === 401, 5_000);
  expect(await statusOf(test.key)).toBe(200);
  expect(await answerTo('key', 'revoke', live.key_id)).toEqual(revoked);
});

test('a command on a machine whose clock is wrong uses the time of Postgres', async () => {
  const HOUR_MS = 3_600_000;
  const skewed = async (skewMs: number, ...words: string[]) => {
    const settings = { ...world.settings, ...skewedClock(skewMs) };
    return JSON.parse((await runProgram('apps/admin/dist/main.js', words, settings, true)).stdout);
  };
  const made = await create(person('clock@example.com'));
  await world.http().post('/v1/checks', { vat_number: 'DE136695976' }).expect(201);
  const anchor = await skewed(HOUR_MS, 'anchor', 'close');
  const account = await skewed(-HOUR_MS, 'account', 'disable', made.account_id);
  for (const time of [anchor.closed_at, account.disabled_at])
    expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(HOUR_MS / 2);
});

test('reconcile runs one sweep and reports its counts', async () => {
  const { code, answer } = await admin('reconcile');
  expect(code).toBe(0);
  const counts = [
    'enqueued',
    'abandoned',
    'orphans',
    'lost_lines',
    'not_ended',
    'batches',
    'lanes',
    'deliveries',
    'removed',
    'stamps',
    'held',
    'resumed',
  ];
  expect(answer).toEqual(Object.fromEntries(counts.map((name) => [name, expect.any(Number)])));
});

test('watch run starts a watch at once and prints its request, or reports that there is nothing to start', async () => {
  const http = world.http();
  const { body: watch } = await http.post('/v1/watches', { vat_number: 'DE136695976', frequency: 'daily' }).expect(201);
  const id = watch.watch_id;
  await until('the baseline', async () => (await http.get(`/v1/watches/${id}`)).body.last_check_id !== null);
  const { code, answer } = await admin('watch', 'run', id);
  expect([code, answer]).toEqual([0, { watch_id: id, request_id: expect.stringMatching(/^req_/), status: 'started' }]);
  const request = await until('the run to end', async () => {
    const { body } = await http.get(`/v1/requests/${answer.request_id}`).expect(200);
    return body.status === 'completed' && body;
  });
  expect((await http.get(`/v1/watches/${id}`)).body.last_check_id).toBe(request.check.id);
  await http.method('patch', `/v1/watches/${id}`).send({ status: 'paused' }).expect(200);
  expect(await answerTo('watch', 'run', id)).toEqual({ watch_id: id, request_id: null, status: 'paused' });
});

test.each([
  [[], /account create/],
  [['account'], /account create/],
  [['nonsense', 'words'], /account create/],
  [['account', 'disable'], /acc_/],
  [['account', 'disable', 'acc_nonsense'], /acc_/],
  [['account', 'enable', 'acc_01h45ytscbebyvny4gc8cr8ma2'], /no account/],
  [['account', 'set-plan', 'acc_01h45ytscbebyvny4gc8cr8ma2', 'starter'], /no account/],
  [['account', 'set-plan', 'acc_01h45ytscbebyvny4gc8cr8ma2', 'gold'], /no plan gold/],
  [['account', 'set-plan', 'acc_01h45ytscbebyvny4gc8cr8ma2'], /Name the plan: free/],
  [['account', 'disable', 'acc_00000000000000000000000001'], /no account/],
  [['key', 'revoke', 'key_00000000000000000000000001'], /no key/],
  [['watch', 'run', 'wat_00000000000000000000000001'], /wat_/],
  [['key', 'create'], /acc_/],
  [['key', 'create', 'acc_01h45ytscbebyvny4gc8cr8ma2'], /no account/],
  [['key', 'create', 'acc_01h45ytscbebyvny4gc8cr8ma2', '--live'], /--live/],
  [['key', 'revoke'], /key_/],
  [['key', 'revoke', 'key_01h45ytscbebyvny4gc8cr8ma2'], /no key/],
  [['account', 'list', 'surplus'], /surplus/],
  [['account', 'create', '--password'], /argument missing\. Write: account create/],
  [['watch', 'run'], /wat_/],
  [['account', 'erase'], /acc_/],
  [['account', 'erase', 'acc_01h45ytscbebyvny4gc8cr8ma2'], /no account/],
  [['anchor', 'close', 'now'], /Unexpected argument now/],
  [['anchor'], /anchor verify/],
  [['watch', 'run', 'wat_nonsense'], /wat_/],
  [['watch', 'run', 'wat_01h45ytscbebyvny4gc8cr8ma2'], /no watch/],
  [['key', 'revoke', 'key_01h45ytscbebyvny4gc8cr8ma2', 'key_2'], /key_2/],
])('%j is refused and says what to write', async (words, why) => {
  expect(await refusal(...words)).toMatch(why);
});

test('an error is one JSON object with a non-zero exit code', async () => {
  const { code, answer } = await admin('account', 'disable', 'acc_01h45ytscbebyvny4gc8cr8ma2');
  expect(code).toBe(1);
  expect(answer).toEqual({ error: { code: 'USAGE', message: expect.stringMatching(/no account/) } });
});

/** In the process every name has two addresses of this machine, as `localhost` has where there is IPv6. */
const TWO_ADDRESSES = `
import dns from 'node:dns';
const found = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
dns.lookup = (_name, options, callback) =>
  process.nextTick(callback, null, ...(options.all ? [found] : [found[0].address, 4]));`;

test.each([
  ['127.0.0.1', ['account', 'list'], /127\.0\.0\.1:1/],
  ['localhost', ['account', 'list'], /ECONNREFUSED/],
  ['localhost', ['tsa-root', 'list'], /ECONNREFUSED 127\.0\.0\.1:1/],
  ['localhost', ['migrate'], /ECONNREFUSED 127\.0\.0\.1:1/],
])(
  'a database at %s that does not answer gives an error in JSON for %j, with the reason',
  async (host, words, reason) => {
    const settings = {
      ...world.settings,
      DATABASE_URL: `postgresql://nobody@${host}:1/none`,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TWO_ADDRESSES)}`,
    };
    const { code, stdout } = await runProgram('apps/admin/dist/main.js', words, settings, true);
    expect(code).toBe(1);
    const { message } = JSON.parse(stdout).error;
    expect(JSON.parse(stdout)).toEqual({ error: { code: 'FAILED', message: expect.stringMatching(reason) } });
    expect(message).toMatch(/^Postgres does not answer at DATABASE_URL\. \([^`\n]*(`127.0.0.1:1`)?\)$/);
  },
);
