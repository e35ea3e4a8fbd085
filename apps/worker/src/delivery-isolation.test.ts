import {
  configureWebhook,
  faultSize,
  insertAccount,
  openReceivers,
  type Receivers,
  reportFigure,
  startWorld,
  type TestAccount,
  type TestReceiver,
  until,
  type World,
  withStatus,
} from '@vat/testkit';

/** Deliveries of each endpoint that answers, and of the one that hangs: more than a worker runs at once. */
const QUICK = { endpoints: 9, deliveries: 6 };
const HANGING = { endpoints: 1, deliveries: 450 };
/** Endpoints that refuse the connection, each with one delivery. */
const DEAD = faultSize(20, 1_000);
/** How long the endpoint hangs: for longer than a test may take on any machine, so that no attempt times out meanwhile. */
const TIMEOUT_MS = 60_000;

/** A port that is reserved and never served. */
const DEAD_URL = 'https://127.0.0.1:1/';

let receivers: Receivers;
let world: World;
let accounts: TestAccount[];
let hanging: TestReceiver;
let quick: TestReceiver;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    ownProcesses: true,
    settings: { ...receivers.settings, WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`, WEBHOOK_RETRY_DELAYS: '100ms' },
  });
  [hanging, quick] = await Promise.all([receivers.start(() => undefined), receivers.start()]);
  accounts = [];
  for (let n = 0; n < QUICK.endpoints + HANGING.endpoints; n += 1) {
    const account = await insertAccount(world);
    await configureWebhook(world, account, n < HANGING.endpoints ? hanging.url : quick.url);
    accounts.push(account);
  }
});
afterAll(async () => {
  // First: what they leave open ends with them, and the worker need not wait for it.
  await receivers?.close();
  await world?.stop();
});

const sendTests = async (account: TestAccount, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await world.http(account.live_key).post('/v1/webhook/test').expect(202);
};
/** Milliseconds from commit to attempt of what the quick endpoints got, sorted. */
const waits = async (): Promise<number[]> => {
  const rows = await world.sql<{ ms: number }>(
    `SELECT (EXTRACT(EPOCH FROM d.last_attempt_at - d.created_at) * 1000)::int AS ms
     FROM delivery d JOIN webhook w USING (account_id) WHERE d.state = 'successful' AND w.url = $1 ORDER BY 1`,
    [quick.url],
  );
  return rows.map(({ ms }) => ms);
};
const p95Of = (sorted: number[]): number => sorted[Math.floor(sorted.length * 0.95)] ?? Number.POSITIVE_INFINITY;
/** Sends events to all quick endpoints at once; resolves to the p95 of their waits. */
const sendQuick = async (accountsToNotify: TestAccount[]): Promise<number> => {
  await world.sql("DELETE FROM delivery WHERE state = 'successful'");
  await Promise.all(accountsToNotify.map((account) => sendTests(account, QUICK.deliveries)));
  await until('all events to arrive', async () => (await waits()).length === QUICK.endpoints * QUICK.deliveries);
  return p95Of(await waits());
};

/** Accounts whose endpoint refuses the connection, and an event for each. */
const addDead = async (): Promise<void> => {
  for (let n = 0; n < DEAD; n += 1) {
    const account = await insertAccount(world);
    await configureWebhook(world, account, DEAD_URL);
    await sendTests(account, 1);
  }
};

test('an endpoint that hangs holds only its own permits and delays no other, and neither do dead ones', async () => {
  const [hung, ...others] = accounts;
  if (!hung) throw new Error('there is no account');
  await sendQuick(others);
  const alone = await sendQuick(others);
  await Promise.all(Array.from({ length: 10 }, () => sendTests(hung, HANGING.deliveries / 10)));
  await until('its permits to be taken', () => hanging.maxOpen() === 4);
  await addDead();
  const beside = await sendQuick(others);
  reportFigure(
    `isolation: p95 from commit to attempt ${alone} ms alone, ${beside} ms beside one that hangs and ${DEAD} dead ones`,
  );
  // A permit that the hanging one holds would cost its whole time-out; what is measured here is the machine's own noise.
  expect(beside).toBeLessThan(2 * alone + 500);
  expect(quick.arrivals).toHaveLength(3 * QUICK.endpoints * QUICK.deliveries);
  // None of its attempts has timed out yet, and no more than its share is open.
  expect(hanging.maxOpen()).toBe(4);
  expect(hanging.arrivals).toHaveLength(4);
});

test('a stopping worker aborts its open attempts uncounted, and another worker makes them', async () => {
  const [worker] = world.workers;
  const open = hanging.arrivals.map(({ headers }) => String(headers['x-service-delivery']));
  expect(open).toHaveLength(4);
  await world.startWorker();
  // The open ones go on hanging; repeated ones are answered.
  hanging.answer(withStatus(204));
  worker?.signal('SIGTERM');
  // The other worker may have acquired their permits before the next poll.
  await until('the attempts to be aborted', () => hanging.open() < 4 || hanging.arrivals.length > open.length);
  expect(await worker?.exited).toBe(0);
  world.workers.shift();
  const [hung] = accounts;
  for (const id of open) {
    // Hundreds of others wait for the same few permits.
    const log = await until('the delivery to end', async () => {
      const { body } = await world.http(hung?.live_key).get(`/v1/webhook/deliveries/${id}`).expect(200);
      return body.status !== 'pending' && body;
    });
    expect(log).toMatchObject({ status: 'successful', attempts: 1 });
    expect(log.attempts_log).toHaveLength(1);
  }
  // Everything that waited for the endpoint is sent once it answers again.
  await until('the rest to arrive', () => hanging.arrivals.length === HANGING.deliveries + open.length);
});
