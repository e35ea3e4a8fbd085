import { type ConnectedDatabase, findOrFollowWatch, startRun } from '@vat/db';
import { publicId, RUN_LIMITS, runWatch, uuidOf } from '@vat/domain';
import { connectRedis, createProducer, enqueueOverdue } from '@vat/queues';
import {
  configureWebhook,
  insertAccount,
  numberSequence,
  openReceivers,
  type Receivers,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
} from '@vat/testkit';
import { connectTo } from './database.fixture.js';

const HOUR_MS = 3_600_000;
const GIVE_UP_MS = 7_000;
const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };

let receivers: Receivers;
let world: World;
let database: ConnectedDatabase;
let redis: ReturnType<typeof connectRedis>;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    settings: {
      ...receivers.settings,
      BACKGROUND_GIVE_UP_AFTER: `${GIVE_UP_MS}ms`,
      WATCHES_EVERY: '200ms',
      SWEEP_EVERY: '500ms',
    },
  });
  database = connectTo(world, 2);
  // Loads what a client loads with its first statement: concurrent tests may not.
  await database.db.$queryRaw`SELECT 1`;
  redis = connectRedis(String(world.settings.REDIS_URL), 'consumer', () => undefined);
});
afterAll(async () => {
  await database?.close();
  redis?.disconnect();
  await world?.stop();
  await receivers?.close();
});

type Watch = {
  watch_id: string;
  vat_number: string;
  status: string;
  last_check_id: string | null;
  last_checked_at: string | null;
  missed_since: string | null;
  next_check_at: string;
  created_at: string;
};
type Change = { kind: string; before: unknown; after: unknown; check_id: string; changed_at: string };
type Owner = { account: TestAccount; receiver: TestReceiver };

/** An account with an endpoint of its own. */
const owner = async (): Promise<Owner> => {
  const [account, receiver] = await Promise.all([insertAccount(world), receivers.start()]);
  await configureWebhook(world, account, receiver.url);
  return { account, receiver };
};
const httpOf = ({ account }: Owner) => world.http(account.live_key);
const accountId = ({ account }: Owner) => uuidOf('account', account.account_id);
/** Tests that run at the same time use different member states: one may be down for a while. */
const newNumber = numberSequence();
const says = (vatNumber: string, ...answers: unknown[]) => world.vies.script(vatNumber, answers);
const valid = (name: string, address: string) => ({ kind: 'valid', name, address });
const read = async (who: Owner, id: string): Promise<Watch> =>
  (await httpOf(who).get(`/v1/watches/${id}`).expect(200)).body;
const changesOf = async (who: Owner, id: string): Promise<Change[]> =>
  (await httpOf(who).get(`/v1/watches/${id}/changes`).expect(200)).body.data;
const make = async (who: Owner, vatNumber: string, more: object = {}): Promise<Watch> =>
  (
    await httpOf(who)
      .post('/v1/watches', { vat_number: vatNumber, frequency: 'daily', ...more })
      .expect(201)
  ).body;
/** A watch whose first check is there. */
const watched = async (who: Owner, vatNumber: string, more: object = {}): Promise<string> => {
  const { watch_id: id } = await make(who, vatNumber, more);
  await until('the baseline', async () => (await read(who, id)).last_checked_at !== null);
  return id;
};
/** What `admin watch run` does; the command itself has tests of its own. */
const run = async (id: string) => {
  const found = await runWatch({
    findOrFollow: findOrFollowWatch(database.db),
    startRun: startRun(database.db),
    enqueue: enqueueOverdue(createProducer(redis, world.name)),
    now: () => new Date(),
  })(String(uuidOf('watch', id)));
  if (!found) throw new Error('there is no such watch');
  return { status: found.status, request: found.requestId && publicId('request', found.requestId) };
};
/** Runs a watch now and waits for the end of its request. */
const ran = async (who: Owner, id: string): Promise<Record<string, unknown>> => {
  const { request, status } = await run(id);
  expect(status).toBe('started');
  return until('the run to end', async () => {
    const { body } = await httpOf(who)
      .get(`/v1/requests/${String(request)}`)
      .expect(200);
    return body.status !== 'pending' && body;
  });
};
const eventsOf = ({ receiver }: Owner) =>
  receiver.arrivals.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
const differences = (changes: Change[]) => changes.map(({ kind, before, after }) => [kind, before, after]).reverse();
const usage = async (who: Owner) => (await httpOf(who).get('/v1/usage').expect(200)).body;

test.concurrent("the first check follows at once and is no change; the next is due at the watch's time of day, at least half a day later", async () => {
  const who = await owner();
  const vatNumber = newNumber('PL');
  await says(vatNumber, valid('A', '1 RUE A'));
  const id = await watched(who, vatNumber);
  const weekly = await watched(who, newNumber('PL'), { frequency: 'weekly' });
  const watch = await read(who, id);
  const { body: check } = await httpOf(who).get(`/v1/checks/${watch.last_check_id}`).expect(200);
  expect(check).toMatchObject({ vat_number: vatNumber, valid: true, name: 'A', checked_at: watch.last_checked_at });
  const { body: request } = await httpOf(who).get(`/v1/requests/${check.request_id}`).expect(200);
  expect(request).toMatchObject({ status: 'completed', accepted_at: null });
  const inHours = ({ created_at: from, next_check_at: to }: Watch) => (Date.parse(to) - Date.parse(from)) / HOUR_MS;
  expect(inHours(watch)).toBeGreaterThanOrEqual(12);
  expect(inHours(watch)).toBeLessThan(36.1);
  expect(inHours(await read(who, weekly))).toBeGreaterThanOrEqual(6.5 * 24);
  expect(inHours(await read(who, weekly))).toBeLessThan(7.5 * 24 + 0.1);
  expect(await changesOf(who, id)).toEqual([]);
  expect(await usage(who)).toMatchObject({ used: 2, reserved: 0 });
  expect(who.receiver.arrivals).toEqual([]);
});

test.concurrent('each change is listed and delivered once: name, address, validity, and differences once it is valid again', async () => {
  const who = await owner();
  const vatNumber = newNumber('FR');
  await says(vatNumber, valid('A', '1 RUE A'));
  const id = await watched(who, vatNumber, { label: 'supplier 7' });
  const steps: [unknown, [string, unknown, unknown][]][] = [
    [valid('A', '1 RUE A'), []],
    [valid('B', '1 RUE A'), [['name', 'A', 'B']]],
    [
      valid('C', '2 RUE C'),
      [
        ['name', 'B', 'C'],
        ['address', '1 RUE A', '2 RUE C'],
      ],
    ],
    [valid('---', '2 RUE C'), [['name', 'C', null]]],
    ['invalid', [['validity', true, false]]],
    ['invalid', []],
    [valid('---', '2 RUE C'), [['validity', false, true]]],
    ['invalid', [['validity', true, false]]],
    [
      valid('D', '2 RUE C'),
      [
        ['validity', false, true],
        ['name', null, 'D'],
      ],
    ],
  ];
  const expected: [string, unknown, unknown][] = [];
  for (const [answer, changes] of steps) {
    await says(vatNumber, answer);
    const { check } = (await ran(who, id)) as { check: { id: string; checked_at: string } };
    expected.push(...changes);
    const listed = await changesOf(who, id);
    expect(differences(listed)).toEqual(expected);
    for (const change of listed.slice(0, changes.length))
      expect([change.check_id, change.changed_at]).toEqual([check.id, check.checked_at]);
    expect(await read(who, id)).toMatchObject({ last_check_id: check.id, last_checked_at: check.checked_at });
  }
  await until('every event', () => who.receiver.arrivals.length >= expected.length);
  const changes = (await changesOf(who, id)).reverse();
  // Deliveries of one moment may overtake each other; each is there once.
  const bodies = who.receiver.arrivals.map(({ body }) => body).sort();
  const bodyOf = ({ kind, before, after, check_id }: Change) =>
    JSON.stringify({
      event: 'watch.changed',
      watch_id: id,
      vat_number: vatNumber,
      label: 'supplier 7',
      kind,
      before,
      after,
      check_id,
    });
  expect(bodies).toEqual(changes.map(bodyOf).sort());
  expect(who.receiver.arrivals[0]?.headers['x-service-event']).toBe('watch.changed');
  const page = (await httpOf(who).get(`/v1/watches/${id}/changes?limit=3`).expect(200)).body;
  const rest = (await httpOf(who).get(`/v1/watches/${id}/changes?cursor=${page.next_cursor}`).expect(200)).body;
  expect([...page.data, ...rest.data].reverse()).toEqual(changes);
});

test.concurrent('an invalid answer that is not confirmed, an outage, and a request that is given up are no change', async () => {
  const who = await owner();
  const [disputed, down, gone] = [newNumber('IT'), newNumber('IT'), newNumber('IT')];
  const [a, b, c] = await Promise.all([disputed, down, gone].map((vatNumber) => watched(who, vatNumber)));
  const before = await Promise.all([a, b, c].map((id) => read(who, String(id))));
  await says(disputed, 'invalid', 'valid', 'valid');
  await says(down, DOWN, 'hang', 'html', 'valid');
  await says(gone, DOWN);
  const [first, second, third] = await Promise.all([a, b, c].map((id) => ran(who, String(id))));
  expect([first?.status, second?.status, third?.status]).toEqual(['completed', 'completed', 'abandoned']);
  expect(third).toMatchObject({ reason: 'UPSTREAM_NO_ANSWER', check: null });
  for (const id of [a, b, c]) expect(await changesOf(who, String(id))).toEqual([]);
  // What was not answered is not a check: the watch still shows the one before.
  const after = await read(who, String(c));
  const { missed_since: missedSince } = after;
  expect(after).toEqual({ ...before[2], next_check_at: after.next_check_at, missed_since: missedSince });
  expect(Date.parse(String(missedSince))).toBe(Date.parse(String(third?.created_at)));
  expect((await read(who, String(b))).last_checked_at).not.toBe(before[1]?.last_checked_at);
  expect(await usage(who)).toMatchObject({ used: 5, reserved: 0 });
  expect(who.receiver.arrivals).toEqual([]);
  // It goes on as if nothing had been.
  await says(gone, 'invalid');
  await ran(who, String(c));
  expect((await read(who, String(c))).missed_since).toBeNull();
  expect(differences(await changesOf(who, String(c)))).toEqual([['validity', true, false]]);
});

test.concurrent('after a weekly run without an answer the watch is tried every day until it is checked, and says since when it was not', async () => {
  const who = await owner();
  const vatNumber = newNumber('DE');
  const id = await watched(who, vatNumber, { frequency: 'weekly' });
  const checked = await read(who, id);
  expect(checked.missed_since).toBeNull();
  expect(Date.parse(checked.next_check_at)).toBeGreaterThan(Date.now() + 6 * 24 * HOUR_MS);
  await says(vatNumber, DOWN);
  const missed = [];
  for (let n = 0; n < 2; n += 1) {
    await ran(who, id);
    missed.push(await read(who, id));
    expect(Date.parse(missed[n]?.next_check_at ?? '') - Date.now()).toBeLessThanOrEqual(24 * HOUR_MS);
  }
  // Since the first of them.
  expect(missed[0]?.missed_since).not.toBeNull();
  expect(missed[1]?.missed_since).toBe(missed[0]?.missed_since);
  await says(vatNumber, 'valid');
  await ran(who, id);
  const again = await read(who, id);
  expect(again.missed_since).toBeNull();
  expect(Date.parse(again.next_check_at)).toBeGreaterThan(Date.now() + 6 * 24 * HOUR_MS);
});

test.concurrent('a requester that the upstream refuses ends the run without a change and gives its unit back', async () => {
  const who = await owner();
  const vatNumber = newNumber('DK');
  const id = await watched(who, vatNumber, { requester_vat_number: 'DE136695976' });
  expect((await world.vies.journal(vatNumber)).map(({ requester }) => requester)).toEqual(['DE136695976']);
  await says(vatNumber, { kind: 'error', code: 'INVALID_REQUESTER_INFO' });
  expect(await ran(who, id)).toMatchObject({ status: 'abandoned', reason: 'INVALID_REQUESTER' });
  expect(await changesOf(who, id)).toEqual([]);
  expect(await usage(who)).toMatchObject({ used: 1, reserved: 0 });
  expect(eventsOf(who)).toEqual([]);
});

test.concurrent('a number that the upstream now reports as malformed is no longer valid, and that consumes no unit', async () => {
  const who = await owner();
  const vatNumber = newNumber('HU');
  const id = await watched(who, vatNumber);
  await says(vatNumber, { kind: 'error', code: 'INVALID_INPUT' });
  expect(await ran(who, id)).toMatchObject({ status: 'completed', check: { valid: false, verdict: 'malformed' } });
  expect(differences(await changesOf(who, id))).toEqual([['validity', true, false]]);
  expect(await usage(who)).toMatchObject({ used: 1, reserved: 0 });
});

test.concurrent('without a unit the run is put off to the next day, and is made when there is one', async () => {
  const who = await owner();
  await world.sql('UPDATE account SET monthly_quota = 1 WHERE id = $1', [accountId(who)]);
  await watched(who, newNumber('MT'));
  const vatNumber = newNumber('MT');
  const { watch_id: id, created_at: createdAt } = await make(who, vatNumber, { frequency: 'weekly' });
  const putOff = await until('the run to be put off', async () => {
    const watch = await read(who, id);
    return watch.next_check_at !== createdAt && watch;
  });
  expect(putOff).toMatchObject({
    last_check_id: null,
    last_checked_at: null,
    missed_since: createdAt,
    status: 'active',
  });
  expect(Date.parse(putOff.next_check_at)).toBeLessThan(Date.parse(createdAt) + 24.1 * HOUR_MS);
  expect(await run(id)).toEqual({ request: null, status: 'quota_exceeded' });
  expect(await world.vies.journal(vatNumber)).toEqual([]);
  expect(await usage(who)).toMatchObject({ used: 1, reserved: 0 });
  await world.sql('UPDATE account SET monthly_quota = 2 WHERE id = $1', [accountId(who)]);
  await ran(who, id);
  expect(await usage(who)).toMatchObject({ used: 2, reserved: 0 });
});

test.concurrent('a paused watch is not checked, not even by the operator; once resumed, it makes up for the missed run', async () => {
  const who = await owner();
  const vatNumber = newNumber('SI');
  const id = await watched(who, vatNumber);
  await httpOf(who).method('patch', `/v1/watches/${id}`).send({ status: 'paused' }).expect(200);
  await world.sql(`UPDATE watch SET next_check_at = now() - interval '1 hour' WHERE id = $1`, [uuidOf('watch', id)]);
  expect(await run(id)).toEqual({ request: null, status: 'paused' });
  // A watch that came due later has been run meanwhile.
  await watched(who, newNumber('SI'));
  expect(await world.vies.journal(vatNumber)).toHaveLength(1);
  await httpOf(who).method('patch', `/v1/watches/${id}`).send({ status: 'active' }).expect(200);
  await until('the run', async () => (await world.vies.journal(vatNumber)).length === 2);
});

test.concurrent('a disabled account has its runs put off, and one that is under way ends without a change', async () => {
  const who = await owner();
  const [idle, busy] = [newNumber('SK'), newNumber('SK')];
  const [a, b] = await Promise.all([idle, busy].map((vatNumber) => watched(who, vatNumber)));
  await says(busy, DOWN);
  const { request } = await run(String(b));
  await world.sql('UPDATE account SET disabled_at = now() WHERE id = $1', [accountId(who)]);
  expect(await run(String(a))).toEqual({ request: null, status: 'account_disabled' });
  const ended = await until('the run to end', async () => {
    const { body } = await httpOf(who)
      .get(`/v1/requests/${String(request)}`)
      .expect(200);
    return body.status !== 'pending' && body;
  });
  expect(ended).toMatchObject({ status: 'abandoned', reason: 'ACCOUNT_DISABLED' });
  expect(await world.vies.journal(idle)).toHaveLength(1);
  expect(await usage(who)).toMatchObject({ used: 2, reserved: 0 });
  expect(await changesOf(who, String(b))).toEqual([]);
  await world.sql('UPDATE account SET disabled_at = NULL WHERE id = $1', [accountId(who)]);
  await says(busy, 'valid');
  await ran(who, String(a));
  await ran(who, String(b));
});

test.concurrent('a watch that is deleted during its run leaves its check and sends no event', async () => {
  const who = await owner();
  const vatNumber = newNumber('PT');
  const id = await watched(who, vatNumber);
  await says(vatNumber, DOWN);
  const runs = await Promise.all([run(id), run(id), run(id)]);
  expect(runs.map(({ status }) => status).sort()).toEqual(['running', 'running', 'started']);
  const [{ request }] = runs;
  expect(runs.map((each) => each.request)).toEqual([request, request, request]);
  await httpOf(who).method('delete', `/v1/watches/${id}`).expect(204);
  await says(vatNumber, valid('SOMEBODY ELSE', '---'));
  const ended = await until('the run to end', async () => {
    const { body } = await httpOf(who)
      .get(`/v1/requests/${String(request)}`)
      .expect(200);
    return body.status === 'completed' && body;
  });
  expect(ended.check).toMatchObject({ valid: true, name: 'SOMEBODY ELSE' });
  expect(await usage(who)).toMatchObject({ used: 2, reserved: 0 });
  expect(await world.sql(`SELECT 1 FROM event WHERE account_id = $1`, [accountId(who)])).toEqual([]);
});

/** Watches that are due now, written straight into the database. */
const insertDue = (who: Owner, vatNumbers: string[]) =>
  world.sql(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     SELECT gen_random_uuid(), $1, n, left(n, 2), substr(n, 3), n, 'daily', 'active', now(), now() FROM unnest($2::text[]) n`,
    [accountId(who), vatNumbers],
  );
const underWay = async (state: string) => {
  const [row] = await world.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM request WHERE origin = 'watch' AND country_code = $1 AND state = 'pending'`,
    [state],
  );
  return row?.n ?? 0;
};

test('a member state that is unavailable delays no other member state, and its runs end with it', async () => {
  const who = await owner();
  await world.vies.state('LU', { answer: DOWN });
  const away = Array.from({ length: 150 }, () => newNumber('LU'));
  await insertDue(who, away);
  await until('runs between two lookups', async () => (await underWay('LU')) > RUN_LIMITS.waiting);
  await watched(who, newNumber('FI'));
  await world.vies.state('LU', { answer: null });
  // A run that reached its give-up time during the outage is missed; every other one ends with a check.
  const missed = async () => {
    const [row] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM watch WHERE country_code = 'LU' AND missed_since IS NOT NULL AND request_id IS NULL`,
    );
    return row?.n ?? 0;
  };
  await until('every run to end', async () => (await usage(who)).used + (await missed()) === 151);
  expect(await usage(who)).toMatchObject({ reserved: 0 });
});

test('a direct check does not wait for the watches of its member state', async () => {
  const who = await owner();
  await world.vies.state('EE', { latency_ms: 100 });
  await insertDue(
    who,
    Array.from({ length: 60 }, () => newNumber('EE')),
  );
  await until('lookups of the watches', async () => ((await world.vies.stats()).states.EE?.total ?? 0) >= 2);
  const number = newNumber('EE');
  await httpOf(who).post('/v1/checks', { vat_number: number }).expect(201);
  const numbersLookedUp = (await world.vies.journal()).filter((entry) => entry.member_state === 'EE');
  // Those that were in flight, and whatever took a slot before the call had come in.
  const behind = numbersLookedUp.length - 1 - numbersLookedUp.findIndex((entry) => number.endsWith(entry.number));
  expect(behind).toBeLessThan(8);
  expect((await usage(who)).used).toBeLessThan(40);
  // Three seconds of lookingUp in all: a busy machine would see the last ones given up.
  await world.vies.state('EE', { latency_ms: 0 });
  await until('every run to end', async () => (await usage(who)).used === 61);
});
