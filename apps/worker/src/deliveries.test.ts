import type { ServerResponse } from 'node:http';
import { type Database, removeWebhook, sendTestEvent } from '@vat/db';
import { newUuid, publicId, uuidOf, webhookTestBody } from '@vat/domain';
import { VerificationError, verify } from '@vat/receiver';
import {
  type Arrival,
  configureWebhook,
  insertAccount,
  openReceivers,
  openWorldRedis,
  type Receivers,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
  type WorldRedis,
  withStatus,
} from '@vat/testkit';
import { connectTo } from './database.fixture.js';

const DELAYS_MS = [150, 250, 350, 450, 550];
const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };

let receivers: Receivers;
let world: World;
let redis: WorldRedis;
let orphaned: Awaited<ReturnType<typeof killDuringAttempt>>;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    ownProcesses: true,
    settings: {
      ...receivers.settings,
      UPSTREAM_WINDOW: '1s',
      SWEEP_EVERY: '500ms',
      // Longer than a process may take to find that Redis was emptied, which it looks for every second.
      WEBHOOK_TIMEOUT: '3s',
      WEBHOOK_RETRY_DELAYS: DELAYS_MS.map((ms) => `${ms}ms`).join(','),
    },
  });
  redis = await openWorldRedis(world);
  orphaned = await killDuringAttempt();
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
  await receivers?.close();
});

type Log = {
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  last_attempt: { status_code: number | null; error: string | null } | null;
  attempts_log: { at: string; status_code: number | null; duration_ms: number; error: string | null; answer: string }[];
};
type Subscriber = { account: TestAccount; receiver: TestReceiver; secret: string };

/** An account with an endpoint of its own. */
const subscribe = async (answer?: Parameters<Receivers['start']>[0]): Promise<Subscriber> => {
  const [account, receiver] = await Promise.all([insertAccount(world), receivers.start(answer)]);
  return { account, receiver, secret: await configureWebhook(world, account, receiver.url) };
};
const sendTest = async ({ account }: Subscriber): Promise<string> =>
  (await world.http(account.live_key).post('/v1/webhook/test').expect(202)).body.delivery_id;
const logOf = async ({ account }: Subscriber, id: string): Promise<Log> =>
  (await world.http(account.live_key).get(`/v1/webhook/deliveries/${id}`).expect(200)).body;
const ended = (who: Subscriber, id: string) =>
  until('the delivery to end', async () => {
    const log = await logOf(who, id);
    return log.status !== 'pending' && log;
  });
const verified = ({ headers, body }: Arrival, secret: string) => verify({ headers, rawBody: body, secret });
/** Does to the database what an API process does. */
const inDatabase = async (work: (db: Database) => Promise<unknown>): Promise<void> => {
  const { db, close } = connectTo(world);
  await work(db);
  await close();
};
const uuidOfAccount = ({ account }: Subscriber): string => uuidOf('account', account.account_id) ?? '';

/** A delivery whose worker was killed in the middle of the attempt, beside another worker that serves since. */
const killDuringAttempt = async () => {
  const who = await subscribe(() => undefined);
  const [worker] = world.workers;
  const id = await sendTest(who);
  await until('the attempt', () => who.receiver.arrivals.length === 1);
  worker?.signal('SIGKILL');
  await worker?.exited;
  who.receiver.answer(withStatus(204));
  await world.startWorker();
  world.workers.shift();
  return { who, id };
};

// Each test has an endpoint of its own, so those that lose nothing of the world's run at the same time. This one comes first,
// because the lease of the killed worker lasts for the longest.
test.concurrent('a delivery whose worker is killed in the middle of an attempt is made by another', async () => {
  const { who, id } = orphaned;
  const log = await until('the delivery to end', async () => {
    const seen = await logOf(who, id);
    return seen.status !== 'pending' && seen;
  });
  expect(log).toMatchObject({ status: 'successful', attempts: 1 });
  expect(new Set(who.receiver.arrivals.map(({ body }) => body)).size).toBe(1);
});

test.concurrent('events of a test key carry test: true, and an abandoned request carries its reason', async () => {
  const who = await subscribe();
  const http = world.http(who.account.test_key);
  await Promise.all(['DE700', 'DE300'].map((vat_number) => http.post('/v1/checks', { vat_number }).expect(202)));
  await until('both events', () => who.receiver.arrivals.length === 2);
  const events = who.receiver.arrivals.map((arrival) => verified(arrival, who.secret).event);
  expect(events.map(({ event }) => event).sort()).toEqual(['check.completed', 'check.failed']);
  for (const event of events) expect(event).toMatchObject({ test: true });
  expect(events.find(({ event }) => event === 'check.failed')).toMatchObject({ reason: 'UPSTREAM_NO_ANSWER' });
});

test.concurrent('a failing endpoint gets five retries by the schedule, the same bytes each time; then the delivery has failed', async () => {
  const who = await subscribe((response) => void response.writeHead(500).end('out of order'));
  const log = await ended(who, await sendTest(who));
  const { arrivals } = who.receiver;
  expect(arrivals).toHaveLength(6);
  expect(new Set(arrivals.map(({ body }) => body)).size).toBe(1);
  expect(new Set(arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const arrival of arrivals) {
    const { sentAt } = verified(arrival, who.secret);
    // The signature carries the time of the attempt, in whole seconds.
    expect(Math.abs(arrival.at - sentAt.getTime())).toBeLessThan(2_000);
    expect(arrival.headers['webhook-timestamp']).toBe(arrival.headers['x-service-timestamp']);
  }
  expect(log).toMatchObject({ status: 'failed', attempts: 6, next_attempt_at: null });
  expect(log.attempts_log).toHaveLength(6);
  const endOf = (n: number) => Date.parse(log.attempts_log[n]?.at ?? '') + (log.attempts_log[n]?.duration_ms ?? 0);
  for (const [n, delay] of DELAYS_MS.entries()) {
    const gap = Date.parse(log.attempts_log[n + 1]?.at ?? '') - endOf(n);
    expect(gap).toBeGreaterThanOrEqual(delay - 1);
    expect(gap).toBeLessThan(delay + 1_500);
  }
  for (const attempt of log.attempts_log) {
    expect(attempt).toMatchObject({ status_code: 500, error: null, answer: 'out of order' });
  }
});

test.concurrent('a redirect, a time-out and a broken connection are failures like any other; the first 2xx ends the delivery', async () => {
  const who = await subscribe((response, _arrival, n) => {
    if (n === 0) response.writeHead(302, { location: who.receiver.url }).end();
    if (n === 2) response.destroy();
    if (n === 3) response.writeHead(299).end();
  });
  const log = await ended(who, await sendTest(who));
  expect(log).toMatchObject({ status: 'successful', attempts: 4, next_attempt_at: null });
  expect(log.attempts_log.map(({ status_code }) => status_code)).toEqual([302, null, null, 299]);
  expect(log.attempts_log.map(({ error }) => error?.split(':')[0] ?? null)).toEqual([
    null,
    'TIMEOUT',
    'CONNECTION_RESET',
    null,
  ]);
  expect(who.receiver.arrivals).toHaveLength(4);
});

test.concurrent('a 2xx ends the delivery from its head on, even if its body stalls past the deadline or breaks off', async () => {
  for (const [name, spoil] of [
    ['TIMEOUT', () => undefined],
    ['CONNECTION_RESET', (response: ServerResponse) => void response.socket?.end()],
  ] as const) {
    const who = await subscribe((response) => {
      response.writeHead(200, { 'content-length': 10 }).write('half');
      spoil(response);
    });
    const log = await ended(who, await sendTest(who));
    expect(log).toMatchObject({ status: 'successful', attempts: 1, last_attempt: { status_code: 200 } });
    expect(log.attempts_log).toMatchObject([{ status_code: 200, error: expect.stringMatching(`^${name}: `) }]);
    expect(who.receiver.arrivals).toHaveLength(1);
  }
});

test.concurrent('a forbidden endpoint is an attempt whose error names the rule', async () => {
  const who = await subscribe();
  const secret = await configureWebhook(world, who.account, 'https://10.0.0.1/');
  expect(secret).not.toBe(who.secret);
  const id = await sendTest(who);
  const log = await until('an attempt', async () => {
    const seen = await logOf(who, id);
    return seen.attempts > 0 && seen;
  });
  expect(log.last_attempt).toMatchObject({
    status_code: null,
    error: expect.stringMatching(/^ADDRESS_REFUSED: .*private/),
  });
});

test.concurrent('each attempt uses the current URL and secret', async () => {
  const who = await subscribe(withStatus(503));
  const id = await sendTest(who);
  await until('an attempt', () => who.receiver.arrivals.length > 0);
  const next = await receivers.start();
  const secret = await configureWebhook(world, who.account, next.url);
  expect((await ended(who, id)).status).toBe('successful');
  const [arrival] = next.arrivals;
  if (!arrival) throw new Error('nothing arrived at the new endpoint');
  expect(verified(arrival, secret).event.event).toBe('webhook.test');
  expect(() => verified(arrival, who.secret)).toThrow(VerificationError);
});

/** Ids of deliveries that have a job, in any queue and state. */
const withJobs = async (ids: string[]): Promise<string[]> => {
  const keys = await redis.keys();
  return ids.filter((id) => keys.some((key) => key.includes(`}:${uuidOf('delivery', id)}-`)));
};
const setDisabled = (who: Subscriber, disabled: boolean) =>
  world.sql('UPDATE account SET disabled_at = CASE WHEN $2 THEN now() END WHERE id = $1', [
    uuidOfAccount(who),
    disabled,
  ]);

test('a disabled account gets no attempt, also after sweeps; once enabled, each delivery continues where it stopped', async () => {
  const who = await subscribe(withStatus(500));
  const early = await sendTest(who);
  await until('an attempt', () => who.receiver.arrivals.length > 0);
  await setDisabled(who, true);
  const late = await sendTest(who);
  const resent = (await world.http(who.account.live_key).post(`/v1/webhook/deliveries/${early}/resend`).expect(202))
    .body.delivery_id;
  const ids = [early, late, resent];
  await until('all to be held', async () => (await withJobs(ids)).length === 0, 5_000);
  const [before, seen] = [await Promise.all(ids.map((id) => logOf(who, id))), who.receiver.arrivals.length];
  for (const log of before) expect(log).toMatchObject({ status: 'pending', next_attempt_at: expect.any(String) });
  expect(before.map(({ attempts }) => attempts)).toEqual([seen, 0, 0]);

  // Neither sweeping everything nor the loss of Redis sends them, or gives them jobs.
  await redis.flush();
  await until('Redis to be primed again', async () => (await redis.keys()).includes(`${world.name}:primed`));
  expect(await world.admin('reconcile')).toMatchObject({ held: 0, resumed: 0 });
  expect(await withJobs(ids)).toEqual([]);
  expect(await Promise.all(ids.map((id) => logOf(who, id)))).toEqual(before);
  expect(who.receiver.arrivals).toHaveLength(seen);

  await world.admin('account', 'enable', who.account.account_id);
  const logs = await Promise.all(ids.map((id) => ended(who, id)));
  for (const log of logs) expect(log).toMatchObject({ status: 'failed', attempts: 1 + DELAYS_MS.length });
  for (const log of logs) expect(log.attempts_log).toHaveLength(1 + DELAYS_MS.length);
  expect(who.receiver.arrivals).toHaveLength(ids.length * (1 + DELAYS_MS.length));
});

test.concurrent('an attempt that is under way when the account is disabled may end, and what it did counts', async () => {
  const open: (() => void)[] = [];
  const who = await subscribe((response) => void open.push(() => response.writeHead(204).end()));
  const id = await sendTest(who);
  await until('the attempt', () => open.length === 1);
  await setDisabled(who, true);
  const late = await sendTest(who);
  await until('the next one to be held', async () => (await withJobs([late])).length === 0, 5_000);
  open[0]?.();
  expect(await ended(who, id)).toMatchObject({ status: 'successful', attempts: 1 });
  expect(await logOf(who, late)).toMatchObject({ status: 'pending', attempts: 0 });
  // Enabled in the database alone, as an operator of an older release does: the sweep finds them.
  await setDisabled(who, false);
  await until('the next attempt', () => open.length === 2);
  open[1]?.();
  expect(await ended(who, late)).toMatchObject({ status: 'successful', attempts: 1 });
});

test('an event whose process died between its commit and its job is delivered all the same', async () => {
  const who = await subscribe();
  const [now, deliveryId] = [new Date(), newUuid()];
  const event = { id: newUuid(), type: 'webhook.test' as const, body: webhookTestBody(now) };
  await inDatabase((db) =>
    sendTestEvent(db, 1)({ accountId: uuidOfAccount(who), test: false, event, deliveryId, now }),
  );
  const log = await ended(who, publicId('delivery', deliveryId));
  expect(log).toMatchObject({ status: 'successful', attempts: 1 });
});

test('losing all of Redis between two attempts delays the next one and repeats none', async () => {
  const who = await subscribe(withStatus(500));
  const id = await sendTest(who);
  await until('two attempts', async () => (await logOf(who, id)).attempts >= 2);
  expect(await redis.flush()).toBeGreaterThan(0);
  who.receiver.answer(withStatus(200));
  const log = await ended(who, id);
  expect(log.status).toBe('successful');
  expect(who.receiver.arrivals).toHaveLength(log.attempts);
  expect(log.attempts_log).toHaveLength(log.attempts);
});

test('losing all of Redis during an attempt does not make it twice', async () => {
  const open: (() => void)[] = [];
  const who = await subscribe((response) => void open.push(() => response.writeHead(204).end()));
  const id = await sendTest(who);
  await until('the attempt', () => open.length === 1);
  await redis.flush();
  await until('Redis to be primed again', async () => (await redis.keys()).includes(`${world.name}:primed`));
  expect(open).toHaveLength(1);
  open[0]?.();
  expect(await ended(who, id)).toMatchObject({ status: 'successful', attempts: 1 });
  expect(who.receiver.arrivals).toHaveLength(1);
});

test("first attempts that wait for a permit longer than the sweep's grace period are made once, by their existing job", async () => {
  const who = await subscribe((response) => void setTimeout(() => response.writeHead(204).end(), 300));
  const [worker] = world.workers;
  // Frozen until all are there, so that the places are taken at once. An endpoint that let the first attempt wait for the others
  // counted as slow on a busy machine, and first attempts moved to the retries.
  worker?.signal('SIGSTOP');
  const ids = await Promise.all(Array.from({ length: 60 }, () => sendTest(who)));
  await world.sql(
    `UPDATE delivery SET next_attempt_at = next_attempt_at - interval '1 minute'
     WHERE account_id = $1 AND state = 'pending' AND leased_until IS NULL`,
    [uuidOfAccount(who)],
  );
  worker?.signal('SIGCONT');
  await until('the places to be taken', () => who.receiver.maxOpen() === 4);
  // Works as the timed sweep does, and reports how many it enqueued.
  expect((await world.admin('reconcile')).deliveries).toBe(0);
  // So many at least were overdue when it looked for them.
  const [overdue] = await world.sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM delivery WHERE account_id = $1 AND state = 'pending'
       AND next_attempt_at < now() - interval '30 seconds'`,
    [uuidOfAccount(who)],
  );
  expect(overdue?.n).toBeGreaterThanOrEqual(4);
  const firsts = new Set(ids.map((id) => `${world.name}:{deliveries-retry}:${uuidOf('delivery', id)}-1`));
  expect((await redis.keys()).filter((key) => firsts.has(key))).toEqual([]);
  for (const id of ids) expect(await ended(who, id)).toMatchObject({ status: 'successful', attempts: 1 });
  const arrived = who.receiver.arrivals.map(({ headers }) => headers['x-service-delivery']);
  expect(arrived.toSorted()).toEqual(ids.toSorted());
});

test.concurrent('a resend is a new delivery of the same event: same body, same webhook-id', async () => {
  const who = await subscribe();
  const first = await sendTest(who);
  await ended(who, first);
  const { body } = await world.http(who.account.live_key).post(`/v1/webhook/deliveries/${first}/resend`).expect(202);
  expect(await ended(who, body.delivery_id)).toMatchObject({ status: 'successful', attempts: 1 });
  const [one, two] = who.receiver.arrivals;
  if (!one || !two) throw new Error('fewer than two arrived');
  expect(two.body).toBe(one.body);
  const [before, after] = [verified(one, who.secret), verified(two, who.secret)];
  expect(after.id).toBe(before.id);
  expect([before.deliveryId, after.deliveryId]).toEqual([first, body.delivery_id]);
});

test.concurrent('a delivery whose secret no worker can decrypt stays pending without an attempt, until one can', async () => {
  const who = await subscribe();
  const another = { sql: world.sql, settings: { ...world.settings, SECRET_KEY: 'another key of some length' } };
  await configureWebhook(another, who.account, who.receiver.url);
  const id = await sendTest(who);
  const complaint = 'A webhook secret cannot be decrypted';
  await until('an error for the operator', () =>
    world.workers.some((worker) => worker.lines().some((line) => line.includes(complaint))),
  );
  expect(await logOf(who, id)).toMatchObject({ status: 'pending', attempts: 0, last_attempt: null, attempts_log: [] });
  const secret = await configureWebhook(world, who.account, who.receiver.url);
  expect(await ended(who, id)).toMatchObject({ status: 'successful', attempts: 1 });
  for (const arrival of who.receiver.arrivals) expect(verified(arrival, secret).deliveryId).toBe(id);
});

test('a request answered 202 has one delivery, signed both ways, with the check as the API shows it; a 201 has none', async () => {
  const who = await subscribe();
  const http = world.http(who.account.live_key);
  await http.post('/v1/checks', { vat_number: 'ATU13585627' }).expect(201);
  await world.vies.script('DE136695976', [DOWN]);
  const { body: accepted } = await http.post('/v1/checks', { vat_number: 'DE136695976' }).expect(202);
  await world.vies.script('DE136695976', ['valid']);

  const arrival = await until('the event', () => who.receiver.arrivals[0]);
  const { event, id, deliveryId } = verified(arrival, who.secret);
  const { body: request } = await http.get(`/v1/requests/${accepted.request_id}`).expect(200);
  expect(Object.keys(event)).toEqual(['event', 'request_id', 'check']);
  expect(event).toEqual({ event: 'check.completed', request_id: accepted.request_id, check: request.check });
  expect(arrival.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'check.completed',
    'user-agent': expect.stringMatching(/./),
  });
  const [entry, ...more] = (await http.get('/v1/webhook/deliveries').expect(200)).body.data;
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ delivery_id: deliveryId, event_id: id, event: 'check.completed' });
  await ended(who, String(deliveryId));
  expect(who.receiver.arrivals).toHaveLength(1);
});

test('removing the endpoint ends its pending deliveries, and setting one again revives none', async () => {
  const who = await subscribe(withStatus(500));
  const ids = await Promise.all([1, 2, 3].map(() => sendTest(who)));
  await until('attempts', () => who.receiver.arrivals.length >= 3);
  await inDatabase((db) => removeWebhook(db)(uuidOfAccount(who), new Date()));
  for (const id of ids) {
    const log = await logOf(who, id);
    expect(log).toMatchObject({ status: 'failed', next_attempt_at: null, last_attempt: { error: 'WEBHOOK_REMOVED' } });
  }
  await world.http(who.account.live_key).post('/v1/webhook/test').expect(400);
  const next = await receivers.start();
  await configureWebhook(world, who.account, next.url);
  const fresh = await sendTest(who);
  await ended(who, fresh);
  await world.admin('reconcile');
  const last = await sendTest(who);
  await ended(who, last);
  expect(next.arrivals.map(({ headers }) => headers['x-service-delivery'])).toEqual([fresh, last]);
});
