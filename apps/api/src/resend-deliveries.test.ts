import { createHash } from 'node:crypto';
import { deliverySchema, errorSchema, resentSchema } from '@vat/contracts';
import {
  type DeliveryState,
  type EventType,
  MAX_ON_DEMAND_DELIVERIES,
  MAX_RESENT_DELIVERIES,
  newUuidAt,
  publicId,
  uuidOf,
} from '@vat/domain';
import {
  configureWebhook,
  openReceivers,
  type Receivers,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
} from '@vat/testkit';

let receivers: Receivers;
let world: World;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({ ownProcesses: true, settings: receivers.settings });
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
});

const DAY_MS = 86_400_000;
/** The beginning of the outage that the tests are about. */
const START = Date.now() - DAY_MS;
const at = (ms: number): Date => new Date(START + ms);
const OUTAGE = { from: at(0).toISOString(), to: at(60_000).toISOString() };

/** `of`: the event of an earlier delivery, which is delivered again. */
type Logged = { ms: number; state: DeliveryState; event?: EventType; test?: boolean; of?: string };

/** Adds deliveries of an account to the log; pending ones are due in an hour. Returns their events as UUIDs. */
const insertLog = async (account: TestAccount, logged: readonly Logged[], onDemand = false): Promise<string[]> => {
  const rows = logged.map(({ ms, state, event = 'check.completed', test = false, of }) => ({
    ...{ id: newUuidAt(at(ms)), event_id: of ?? newUuidAt(at(ms)), fresh: of === undefined },
    ...{ type: event, state, test, at: at(ms) },
  }));
  await world.sql(
    `WITH r AS (
       SELECT * FROM jsonb_to_recordset($2::jsonb)
         AS r(id uuid, event_id uuid, fresh boolean, type text, state text, test boolean, at timestamptz)
     ), e AS (
       INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
       SELECT event_id, $1, type, event_id, '{"event":"' || type || '"}', test, at FROM r WHERE fresh
     )
     INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, test, on_demand, created_at, next_attempt_at)
     SELECT r.id, $1, r.event_id, r.type, (SELECT generation FROM webhook WHERE account_id = $1), r.state, r.test, $3, r.at,
       CASE WHEN r.state = 'pending' THEN now() + interval '1 hour' END FROM r`,
    [uuidOf('account', account.account_id), JSON.stringify(rows), onDemand],
  );
  return rows.map(({ event_id }) => event_id);
};

const newAccount = async (url?: string): Promise<TestAccount> => {
  const account = await world.newAccount();
  if (url !== undefined) await configureWebhook(world, account, url);
  return account;
};
const publicIds = (events: readonly string[]) => events.map((id) => publicId('event', id));
/** The events that a receiver got, in order. */
const received = ({ arrivals }: TestReceiver) => arrivals.map(({ headers }) => headers['webhook-id']).toSorted();
const resend = (key: string, body: object, idempotencyKey?: string) => {
  const call = world.http(key).post('/v1/webhook/deliveries/resend', body);
  return idempotencyKey === undefined ? call : call.set('Idempotency-Key', idempotencyKey);
};

describe('the list of deliveries', () => {
  let account: TestAccount;
  /** The events, newest first. */
  let order: string[];
  beforeAll(async () => {
    // Without an endpoint a sweep would end the pending ones.
    account = await newAccount('https://127.0.0.1:1/');
    const states = ['failed', 'successful', 'pending'] as const;
    const types = ['check.completed', 'watch.changed'] as const;
    const logged = Array.from({ length: 24 }, (_, n) => ({
      ms: n * 1_000,
      state: states[n % 3] ?? 'failed',
      event: types[n % 2] ?? 'check.completed',
      test: n % 4 === 0,
    }));
    order = publicIds(await insertLog(account, logged)).toReversed();
  });
  /** The indexes of the events in the order of the log, of all pages. */
  const read = async (query: string, key = account.live_key): Promise<number[]> => {
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await world.http(key).get(`/v1/webhook/deliveries?limit=3${query}${cursor}`).expect(200);
      found.push(...body.data.map((entry: unknown) => deliverySchema.parse(entry).event_id));
      if (body.next_cursor === null) return found.map((id) => 23 - order.indexOf(id));
      cursor = `&cursor=${body.next_cursor}`;
    }
  };
  const matching = (of: (n: number) => boolean) => Array.from({ length: 24 }, (_, n) => 23 - n).filter(of);

  test.each<[string, string, (n: number) => boolean]>([
    ['no filter', '', () => true],
    ['status=failed', '&status=failed', (n) => n % 3 === 0],
    ['status=pending', '&status=pending', (n) => n % 3 === 2],
    ['event=watch.changed', '&event=watch.changed', (n) => n % 2 === 1],
    ['an event of none', '&event=batch.completed', () => false],
    ['status and event', '&status=successful&event=check.completed', (n) => n % 3 === 1 && n % 2 === 0],
    ['a period', `&from=${at(5_000).toISOString()}&to=${at(9_000).toISOString()}`, (n) => n >= 5 && n < 9],
    ['status and from', `&status=failed&from=${at(6_000).toISOString()}`, (n) => n % 3 === 0 && n >= 6],
    ['event and to', `&event=check.completed&to=${at(7_000).toISOString()}`, (n) => n % 2 === 0 && n < 7],
  ])(
    'with %s has the deliveries that match, newest first, in pages; a test key gets those of test events',
    async (_name, query, matches) => {
      expect(await read(query)).toEqual(matching(matches));
      expect(await read(query, account.test_key)).toEqual(matching((n) => matches(n) && n % 4 === 0));
    },
  );

  test('refuses a cursor of other filters, and filters that it does not have', async () => {
    const http = world.http(account.live_key);
    const cursorOf = async (query: string) =>
      (await http.get(`/v1/webhook/deliveries?limit=1${query}`)).body.next_cursor;
    for (const [of, query] of [
      ['', '&status=failed'],
      ['&status=failed', ''],
      ['&status=failed', '&status=successful'],
      ['&event=watch.changed', '&event=check.completed'],
      ['&from=2026-01-01', '&from=2026-01-02'],
    ] as const) {
      const { body } = await http.get(`/v1/webhook/deliveries?cursor=${await cursorOf(of)}${query}`).expect(400);
      expect(body.error).toMatchObject({ code: 'BAD_REQUEST', fields: [{ path: 'cursor' }] });
    }
    for (const query of ['status=sent', 'event=check', 'from=yesterday', 'to=', 'type=webhook.test']) {
      const { body } = await http.get(`/v1/webhook/deliveries?${query}`).expect(400);
      expect(errorSchema('BAD_REQUEST').parse(body).error.code).toBe('BAD_REQUEST');
    }
  });
});

test('after an outage every event whose last delivery failed is delivered once more, once for an Idempotency-Key', async () => {
  const receiver = await receivers.start();
  const account = await newAccount(receiver.url);
  const [failed, resentInVain, deliveredLater, onItsWay, ofWatch, before, delivered] = (await insertLog(account, [
    { ms: 1_000, state: 'failed' },
    { ms: 2_000, state: 'failed' },
    { ms: 3_000, state: 'failed' },
    { ms: 4_000, state: 'failed' },
    { ms: 5_000, state: 'failed', event: 'watch.changed' },
    { ms: -1, state: 'failed' },
    { ms: 6_000, state: 'successful' },
  ])) as [string, string, string, string, string, string, string];
  await insertLog(account, [
    { ms: 7_000, state: 'failed', of: resentInVain },
    { ms: 90_000, state: 'successful', of: deliveredLater },
    { ms: 90_000, state: 'pending', of: onItsWay },
  ]);

  const call = { ...OUTAGE, status: 'failed' };
  const first = await resend(account.live_key, call, 'outage').expect(202);
  expect(resentSchema.parse(first.body)).toMatchObject({ matched: 6, queued: 3 });
  const again = await resend(account.live_key, call, 'outage').expect(202);
  expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
  const other = await resend(account.live_key, { ...call, event: 'watch.changed' }, 'outage').expect(422);
  expect(other.body.error.code).toBe('IDEMPOTENCY_MISMATCH');

  await until('the events', () => receiver.arrivals.length >= 3);
  await until('the deliveries to end', async () => {
    const { body } = await world.http(account.live_key).get('/v1/webhook/deliveries?status=successful').expect(200);
    return body.data.length === 5;
  });
  expect(received(receiver)).toEqual(publicIds([failed, resentInVain, ofWatch]).toSorted());
  // They have been delivered now.
  expect((await resend(account.live_key, call).expect(202)).body).toMatchObject({ matched: 6, queued: 0 });

  // Without a status everything of the period is resent, except the event that is on its way.
  const all = await resend(account.live_key, OUTAGE).expect(202);
  expect(all.body).toMatchObject({ matched: 7, queued: 5 });
  await until('the events', () => receiver.arrivals.length >= 8);
  expect(new Set(received(receiver))).toEqual(
    new Set(publicIds([failed, resentInVain, deliveredLater, ofWatch, delivered])),
  );
  expect(received(receiver)).not.toContain(publicId('event', before));
});

test('only matching deliveries are resent: a test key resends those of test events, a status and an event the others', async () => {
  const receiver = await receivers.start();
  const account = await newAccount(receiver.url);
  const [ofTest, live, completed] = (await insertLog(account, [
    { ms: 1_000, state: 'failed', test: true },
    { ms: 2_000, state: 'failed', event: 'check.failed' },
    { ms: 3_000, state: 'successful', event: 'batch.completed' },
  ])) as [string, string, string];
  expect((await resend(account.test_key, OUTAGE).expect(202)).body).toMatchObject({ matched: 1, queued: 1 });
  const ofEvent = await resend(account.live_key, { ...OUTAGE, event: 'check.failed' }).expect(202);
  expect(ofEvent.body).toMatchObject({ matched: 1, queued: 1 });
  const ofStatus = await resend(account.live_key, { ...OUTAGE, status: 'successful' }).expect(202);
  expect(ofStatus.body).toMatchObject({ matched: 1, queued: 1 });
  await until('the events', () => receiver.arrivals.length >= 3);
  expect(received(receiver)).toEqual(publicIds([ofTest, live, completed]).toSorted());
});

test('bad input says what to correct, and without a webhook nothing is resent', async () => {
  const account = await newAccount();
  for (const [body, path] of [
    [{ from: OUTAGE.from }, 'to'],
    [{ to: OUTAGE.to }, 'from'],
    [{ ...OUTAGE, to: OUTAGE.from }, 'to'],
    [{ ...OUTAGE, from: 'yesterday' }, 'from'],
    [{ ...OUTAGE, status: 'pending' }, 'status'],
    [{ ...OUTAGE, event: 'check' }, 'event'],
    [{ ...OUTAGE, ids: [] }, 'ids'],
  ] as const) {
    const refused = await resend(account.live_key, body).expect(400);
    expect(refused.body.error).toMatchObject({ code: 'BAD_REQUEST', fields: [{ path }] });
  }
  expect((await resend(account.live_key, OUTAGE).expect(400)).body.error.code).toBe('NO_WEBHOOK');
  await world.http(account.live_key).get('/v1/webhook/deliveries/resend').expect(405);
});

test('an account that resends again and again leaves room for others', async () => {
  const [busy, other] = await Promise.all([world.newAccount(), world.newAccount()]);
  for (const one of [busy, other]) await configureWebhook(world, one, 'https://127.0.0.1:1/');
  const resend = (one: TestAccount) => world.http(one.live_key).post('/v1/webhook/deliveries/resend', OUTAGE);
  const lock = createHash('sha256')
    .update(`resend ${uuidOf('account', busy.account_id)}`)
    .digest()
    .readBigInt64BE();
  // As if another process wrote a resend of the account.
  const held = world
    .sql('SELECT pg_advisory_xact_lock($1)::text, pg_sleep(60)::text', [String(lock)])
    .catch(({ code }) => code);
  let refused = 0;
  const calls = Array.from({ length: 60 }, async () => {
    if ((await resend(busy)).body.error?.code === 'RATE_LIMITED') refused += 1;
  });
  await until('a refusal', () => refused > 0);
  expect((await resend(other)).status).toBe(202);
  await world.sql(
    `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'SELECT pg_advisory_xact_lock(%'`,
  );
  // Cancelled.
  expect(await held).toBe('57014');
  await Promise.all(calls);
});

test('deliveries of a disabled account are queued and held', async () => {
  const receiver = await receivers.start();
  const account = await newAccount(receiver.url);
  await insertLog(account, [{ ms: 1_000, state: 'failed' }]);
  const id = uuidOf('account', account.account_id);
  await world.sql('UPDATE account SET disabled_at = now() WHERE id = $1', [id]);
  expect((await resend(account.live_key, OUTAGE).expect(202)).body).toMatchObject({ matched: 1, queued: 1 });
  const held = 'SELECT 1 FROM delivery WHERE account_id = $1 AND held AND attempts = 0';
  await until('the delivery to be held', async () => (await world.sql(held, [id])).length === 1);
  expect(receiver.arrivals).toEqual([]);
});

test('ten thousand deliveries are resent in one call, and do not delay the events of others', async () => {
  const receiver = await receivers.start();
  const quick = await receivers.start();
  const account = await newAccount(receiver.url);
  const other = await newAccount(quick.url);
  const failures = (count: number, from: number) =>
    Array.from({ length: count }, (_, n): Logged => ({ ms: from + n, state: 'failed' }));
  await insertLog(account, failures(MAX_RESENT_DELIVERIES + 1, 0));
  // With one more, no test event, resend or bulk resend is accepted.
  await insertLog(
    account,
    Array.from({ length: MAX_ON_DEMAND_DELIVERIES - 1 }, (_, n) => ({ ms: 70_000 + n, state: 'pending' })),
    true,
  );

  const refused = await resend(account.live_key, OUTAGE).expect(400);
  expect(errorSchema('RESEND_TOO_LARGE').parse(refused.body).error).toMatchObject({
    message: '10 001 deliveries match; at most 10 000 can be resent at a time.',
    matched: MAX_RESENT_DELIVERIES + 1,
  });
  const { body } = await resend(account.live_key, { ...OUTAGE, from: at(1).toISOString() }, 'many').expect(202);
  expect(body).toMatchObject({ matched: MAX_RESENT_DELIVERIES, queued: MAX_RESENT_DELIVERIES });
  await world.http(other.live_key).post('/v1/webhook/test').expect(202);
  await until('the event of the other account', () => quick.arrivals.length === 1);
  expect(receiver.arrivals.length).toBeLessThan(MAX_RESENT_DELIVERIES);
  await until('some of the many', () => receiver.arrivals.length >= 100);
  expect(receiver.maxOpen()).toBeLessThanOrEqual(4);

  const more = await insertLog(account, failures(MAX_RESENT_DELIVERIES, 20_000));
  const pending = await resend(account.live_key, { from: at(20_000), to: at(50_000) }).expect(429);
  const { error } = errorSchema('TOO_MANY_DELIVERIES').parse(pending.body);
  expect(error.message).toBe('1 000 deliveries of test events and resends are already pending.');
  expect(pending.body.error.pending).toBeGreaterThan(MAX_ON_DEMAND_DELIVERIES);
  expect(await world.sql('SELECT 1 FROM delivery WHERE event_id = ANY($1) AND on_demand', [more])).toEqual([]);
});
