import { isDeepStrictEqual } from 'node:util';
import { checkSchema, requestSchema } from '@vat/contracts';
import { newUuid, uuidOf } from '@vat/domain';
import {
  type NumberedState,
  numberSequence,
  startWorld,
  type TestAccount,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';
import { type Browser, openBrowser } from './browser.fixture.js';

const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };
const HOSTILE = '</script><img src=x onerror=alert(1)>"\'';

let world: World;
let account: TestAccount;
let owner: Browser;
let other: Browser;
beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '1500ms', WATCHES_EVERY: '300ms' } });
  [account] = await Promise.all([
    world.newAccount({ email: 'owner@example.com' }),
    world.newAccount({ email: 'other@example.com' }),
  ]);
  [owner, other] = [openBrowser(world.baseUrl()), openBrowser(world.baseUrl())];
  await Promise.all([owner.signIn('owner@example.com'), other.signIn('other@example.com')]);
});
afterAll(() => world?.stop());

type Overview = {
  checks_per_day: { date: string; valid: number; invalid: number; malformed: number }[];
  changes: Record<string, unknown>[];
  failed_deliveries: number;
  active_batches: number;
  pending_requests: number;
};
const overview = async (browser = owner): Promise<Overview> =>
  (await browser.call('get', '/overview').expect(200)).body;
const today = async (browser = owner) => (await overview(browser)).checks_per_day.at(-1);
const nextNumber = numberSequence();
const newNumber = (state: NumberedState = 'FR') => nextNumber(state);
const check = (body: object, key = account.live_key) => world.http(key).post('/v1/checks', body);
const dayOf = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const accountId = () => uuidOf('account', account.account_id);

/** A request that was answered 202 and continues in the background. */
const pend = async (state: NumberedState = 'FI') => {
  const vatNumber = newNumber(state);
  await world.vies.script(vatNumber, [DOWN]);
  const { body } = await check({ vat_number: vatNumber }).expect(202);
  return { id: body.request_id as string, vatNumber };
};
const list = async (query = '', browser = owner) => {
  const { body } = await browser.call('get', `/requests${query}`).expect(200);
  return body as { data: { id: string; status: string; check: unknown }[]; next_cursor: string | null };
};
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe('the overview', () => {
  test('of a new account is thirty days of zeros that end today', async () => {
    expect(await overview(other)).toEqual({
      checks_per_day: Array.from({ length: 30 }, (_, n) => ({
        date: dayOf(29 - n),
        valid: 0,
        invalid: 0,
        malformed: 0,
      })),
      changes: [],
      failed_deliveries: 0,
      active_batches: 0,
      pending_requests: 0,
    });
  });

  test('counts live checks by verdict as they are recorded, those of a batch too, and no test checks', async () => {
    const invalid = newNumber();
    await world.vies.script(invalid, [{ kind: 'invalid' }]);
    await check({ vat_number: newNumber() }).expect(201);
    await check({ vat_number: newNumber() }).expect(201);
    await check({ vat_number: invalid }).expect(201);
    await check({ vat_number: 'DE1' }).expect(201);
    await check({ vat_number: 'DE100' }, account.test_key).expect(201);
    expect(await today()).toEqual({ date: dayOf(0), valid: 2, invalid: 1, malformed: 1 });
    await check({ vat_number: 'DE1' }).set('Idempotency-Key', 'once').expect(201);
    await check({ vat_number: 'DE1' }).set('Idempotency-Key', 'once').expect(201);
    await uploadBatch(world, `vat_number\n${newNumber()}\nDE2\n`, { key: account.live_key });
    await until('the batch to be counted', async () => ((await today())?.valid ?? 0) === 3);
    await until('its malformed line', async () => ((await today())?.malformed ?? 0) === 3);
    expect(await today()).toEqual({ date: dayOf(0), valid: 3, invalid: 1, malformed: 3 });
    expect((await today(other))?.valid).toBe(0);
  });

  test('always agrees with the checks, however many are recorded concurrently', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => check({ vat_number: n % 4 ? newNumber('DE') : 'FR1' })));
    // On a busy machine some are answered 202, and end while the checks are counted.
    await until('all of them to end', async () => (await overview()).pending_requests === 0);
    const [counted] = await world.sql(
      `SELECT count(*) FILTER (WHERE valid)::int AS valid, count(*) FILTER (WHERE NOT valid)::int AS others
       FROM "check" WHERE account_id = $1 AND NOT test`,
      [accountId()],
    );
    const shown = await today();
    expect({ valid: shown?.valid, others: (shown?.invalid ?? 0) + (shown?.malformed ?? 0) }).toEqual(counted);
  });

  test('has the counts of each day at that day, and none before', async () => {
    await world.sql(
      `INSERT INTO check_day (account_id, day, valid, invalid, malformed)
       SELECT $1, (now() AT TIME ZONE 'UTC')::date - d, d, 0, 0 FROM unnest(ARRAY[1, 29, 30]) d`,
      [accountId()],
    );
    const days = (await overview()).checks_per_day;
    expect(days.filter(({ valid }) => valid > 0).map(({ date, valid }) => [date, valid])).toEqual([
      [dayOf(29), 29],
      [dayOf(1), 1],
      [dayOf(0), expect.any(Number)],
    ]);
  });

  test('shows the ten latest changes over all watches, with their watch, as plain text even when hostile', async () => {
    const vatNumber = newNumber();
    const name = (text: string) => ({ kind: 'valid', name: text, address: 'A' });
    await world.vies.script(vatNumber, [name('Before'), name(HOSTILE)]);
    const { body: watch } = await owner
      .call('post', '/watches', { vat_number: vatNumber, frequency: 'daily', label: HOSTILE })
      .expect(201);
    const path = `/watches/${watch.watch_id}`;
    await until('the baseline', async () => (await owner.call('get', path)).body.last_check_id);
    expect((await overview()).changes).toEqual([]);
    await world.admin('watch', 'run', watch.watch_id);
    const changes = await until('the change', async () => {
      const found = (await overview()).changes;
      return found.length > 0 && found;
    });
    expect(changes).toEqual([
      {
        watch_id: watch.watch_id,
        vat_number: vatNumber,
        label: HOSTILE,
        kind: 'name',
        before: 'Before',
        after: HOSTILE,
        check_id: expect.stringMatching(/^chk_/),
        changed_at: expect.stringMatching(/Z$/),
      },
    ]);
    const { headers } = await owner.call('get', '/overview');
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect((await overview(other)).changes).toEqual([]);
    // The changes of a deleted watch are not shown.
    await owner.call('delete', path).expect(204);
    expect((await overview()).changes).toEqual([]);
  });

  test('counts pending requests, live batches, and deliveries that failed within seven days', async () => {
    const before = await overview();
    await world.vies.state('FI', { answer: DOWN });
    await pend();
    await uploadBatch(world, `vat_number\n${newNumber('FI')}\n`, { key: account.live_key });
    await world.sql(
      `INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at)
       SELECT id, $1, gen_random_uuid(), state, now() - days * interval '1 day',
         CASE WHEN state = 'pending' THEN now() + interval '1 day' END
       FROM unnest($2::uuid[], ARRAY['failed', 'failed', 'failed', 'successful', 'pending'], ARRAY[0, 6.9, 7.1, 0, 0])
         AS d(id, state, days)`,
      [accountId(), Array.from({ length: 5 }, newUuid)],
    );
    expect(await overview()).toMatchObject({
      failed_deliveries: before.failed_deliveries + 2,
      active_batches: before.active_batches + 1,
      pending_requests: before.pending_requests + 1,
    });
    await world.vies.state('FI', { answer: null });
  });
});

describe('the list of requests', () => {
  test('has those that were answered 202, newest first, by status, with their check once completed', async () => {
    await check({ vat_number: newNumber() }).expect(201);
    const [one, two] = [await pend('EE'), await pend('EE')];
    const pending = await list('?status=pending');
    expect(idsOf(pending).slice(0, 2)).toEqual([two.id, one.id]);
    for (const request of pending.data) requestSchema.parse(request);
    // A lookup may end between the two reads.
    await until('the list and the request to agree', async () => {
      const [listed] = (await list('?status=pending')).data;
      return isDeepStrictEqual(listed, (await owner.call('get', `/requests/${two.id}`).expect(200)).body);
    });

    await world.vies.script(one.vatNumber, [{ kind: 'valid' }]);
    const completed = await until('the first one to complete', async () => {
      const found = await list('?status=completed');
      return found.data.length > 0 && found.data.find(({ id }) => id === one.id);
    });
    checkSchema.parse(completed.check);
    expect(idsOf(await list('?status=pending'))).not.toContain(one.id);
    expect(idsOf(await list()).slice(0, 2)).toEqual([two.id, one.id]);

    await world.sql(
      "UPDATE request SET give_up_at = now() - interval '1 second' WHERE state = 'pending' AND accepted_at IS NOT NULL",
    );
    const abandoned = await until('the second one to be abandoned', async () =>
      (await list('?status=abandoned')).data.find(({ id }) => id === two.id),
    );
    expect(abandoned).toMatchObject({ status: 'abandoned', reason: 'UPSTREAM_NO_ANSWER', check: null });
  });

  test('has pages without repeats or gaps, over all states', async () => {
    const made = [await pend('DK'), await pend('DK'), await pend('DK')].map(({ id }) => id);
    const all = idsOf(await list('?limit=100'));
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(page.data.length).toBeLessThanOrEqual(2);
      paged.push(...idsOf(page));
      cursor = page.next_cursor;
    }
    expect(all.slice(0, 3)).toEqual(made.reverse());
    expect(paged).toEqual(all);
  });

  test('has no lines of batches, no runs of watches, and nothing of other accounts', async () => {
    const [row] = await world.sql(
      `SELECT count(*)::int AS n FROM request WHERE account_id = $1 AND origin <> 'direct'`,
      [accountId()],
    );
    expect(row?.n).toBeGreaterThan(0);
    const listed = idsOf(await list('?limit=100')).map((id) => uuidOf('request', id));
    expect(await world.sql(`SELECT 1 FROM request WHERE id = ANY($1) AND origin <> 'direct'`, [listed])).toEqual([]);
    expect(await list('', other)).toEqual({ data: [], next_cursor: null });
  });

  test.each(['?status=waiting', '?status=', '?limit=0', '?cursor=nonsense', '?surprise=1'])(
    '%s is 400',
    async (query) => {
      const { status, body } = await owner.call('get', `/requests${query}`);
      expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );
});

test('the settings contain null without a webhook, and otherwise the same as GET /webhook', async () => {
  expect((await other.call('get', '/settings').expect(200)).body).toEqual({ webhook: null });
  await world.sql(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
     VALUES ($1, 'https://example.com/', '\\x00', 'whsec_ab', now())`,
    [accountId()],
  );
  const { body: webhook } = await owner.call('get', '/webhook').expect(200);
  expect((await owner.call('get', '/settings').expect(200)).body).toEqual({ webhook });
});
