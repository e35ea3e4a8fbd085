import { uuidOf } from '@vat/domain';
import {
  configureWebhook,
  insertAccount,
  numberOf,
  openReceivers,
  type Receivers,
  reportFigure,
  startWorld,
  type TestAccount,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';

const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };
const SATURATED = { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' };

let receivers: Receivers;
let world: World;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    workers: 0,
    settings: {
      ...receivers.settings,
      // The second wait is long enough for a line to leave Redis meanwhile.
      BACKGROUND_RETRY_DELAYS: '300ms,2500ms',
      BACKGROUND_GIVE_UP_AFTER: '5m',
      // What is seen here happens by itself; the sweep would hide what does not.
      SWEEP_EVERY: '1h',
    },
  });
  // The roles apart, as a large deployment has them: the process that looks up has windows filled by the other one.
  await Promise.all([
    world.startWorker({ WORKER_QUEUES: 'checks,webhooks' }),
    world.startWorker({ WORKER_QUEUES: 'batches,maintenance' }),
  ]);
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
});

type Batch = {
  batch_id: string;
  status: string;
  total: number;
  done: number;
  failed: number;
  valid: number;
  invalid: number;
  completed_at: string | null;
};
type Line = {
  line: number;
  status: string;
  vat_number: string | null;
  check_id: string | null;
  error: { code: string; message: string } | null;
};

const upload = async (rows: string[], account: TestAccount = world.account): Promise<string> => {
  const answer = await uploadBatch(world, ['vat_number;reference;requester', ...rows].join('\n'), {
    key: account.live_key,
  });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.batch_id;
};
const batchOf = async (id: string, account: TestAccount = world.account): Promise<Batch> =>
  (await world.http(account.live_key).get(`/v1/batches/${id}`).expect(200)).body;
const completed = (id: string, account: TestAccount = world.account, withinMs = 20_000): Promise<Batch> =>
  until(
    'the batch to be completed',
    async () => {
      const batch = await batchOf(id, account);
      return batch.status === 'completed' && batch;
    },
    withinMs,
  );
const linesOf = async (id: string, account: TestAccount = world.account): Promise<Line[]> =>
  (await world.http(account.live_key).get(`/v1/batches/${id}/lines?limit=100`).expect(200)).body.data;
const usageOf = async (account: TestAccount) =>
  (await world.http(account.live_key).get('/v1/usage').expect(200)).body as { used: number; reserved: number };

// Tests that run at the same time use different member states: one may be down.
test.concurrent('a file of all kinds of lines is worked off, its counts are exact and batch.completed is sent once', async () => {
  const [account, receiver] = await Promise.all([insertAccount(world), receivers.start()]);
  await configureWebhook(world, account, receiver.url);
  const de = (n: number) => numberOf('DE', n);
  await world.vies.script(de(3), [{ kind: 'invalid' }]);
  await world.vies.state('FI', { answer: SATURATED });
  await world.vies.script(de(20), [{ kind: 'error', code: 'INVALID_REQUESTER_INFO' }]);
  const requester = numberOf('PT', 1);
  const rows = [
    ...Array.from({ length: 10 }, (_, n) => de(n)), // one of them invalid
    ...Array.from({ length: 5 }, () => de(1)), // looked up once
    ...Array.from({ length: 10 }, (_, n) => numberOf('IT', n)),
    ...Array.from({ length: 3 }, (_, n) => numberOf('FI', n)), // saturated, then answered
    ...Array.from({ length: 2 }, (_, n) => numberOf('EE', n)),
    'DE12',
    'FR1',
    'DE 12',
    ';no number', // BAD_REQUEST
    'GB123456789',
    `${de(30)};${'x'.repeat(65)}`,
    `${de(31)};;DE12`,
    `${de(20)};;${requester}`,
    `${de(1)};;${requester}`, // another requester is another lookup
    de(32),
  ];
  expect(rows).toHaveLength(40);
  const id = await upload(rows, account);
  await until('a lookup of the saturated state', async () => ((await world.vies.stats()).states.FI?.total ?? 0) > 0);
  await world.vies.state('FI', { answer: null });
  const batch = await completed(id, account);

  expect(batch).toMatchObject({ total: 40, done: 35, failed: 5, valid: 31, invalid: 4 });
  const lines = await linesOf(id, account);
  const failures = lines.flatMap((line) => (line.error === null ? [] : [[line.line, line.error.code]]));
  expect(failures).toEqual([
    [35, 'BAD_REQUEST'],
    [36, 'BAD_REQUEST'],
    [37, 'INVALID_REFERENCE'],
    [38, 'INVALID_REQUESTER'],
    [39, 'INVALID_REQUESTER'],
  ]);
  const same = lines.filter((line) => line.vat_number === de(1));
  expect(new Set(same.slice(0, 6).map((line) => line.check_id)).size).toBe(1);
  expect(same.at(-1)?.check_id).not.toBe(same[0]?.check_id);
  expect((await world.vies.journal(de(1))).map((lookup) => lookup.requester)).toEqual([null, requester]);
  expect(await usageOf(account)).toMatchObject({ used: 27, reserved: 0 });

  await until('the event to arrive', () => receiver.arrivals.length > 0);
  expect(receiver.arrivals.map(({ body }) => JSON.parse(body))).toEqual([
    { event: 'batch.completed', batch_id: id, total: 40, done: 35, failed: 5 },
  ]);
  // A line is no call that was answered 202: it ends without an event of its own.
  expect(
    await world.sql('SELECT type, count(*)::int AS n FROM event WHERE account_id = $1 GROUP BY type', [
      uuidOf('account', account.account_id),
    ]),
  ).toEqual([{ type: 'batch.completed', n: 1 }]);
});

test.concurrent('a line that is never answered is given up in time, and the others are not touched', async () => {
  await world.vies.state('DK', { answer: DOWN });
  const [down = '', other = ''] = [numberOf('DK', 7), numberOf('PL', 700)];
  const id = await upload([down, other, down]);
  // The time runs from the first lookup.
  await until('the first lookup to be stored', async () => {
    const ended = await world.sql(
      `UPDATE request SET give_up_at = now() + interval '1 second' WHERE vat_number = $1 AND attempts > 0 RETURNING id`,
      [down],
    );
    return ended.length > 0;
  });
  expect(await completed(id)).toMatchObject({ total: 3, done: 1, failed: 2, valid: 1, invalid: 0 });
  expect((await linesOf(id)).map((line) => line.error?.code ?? line.status)).toEqual([
    'UPSTREAM_NO_ANSWER',
    'done',
    'UPSTREAM_NO_ANSWER',
  ]);
});

test.concurrent('malformed lines get their checks at once, while the others wait for an upstream that is down', async () => {
  await world.vies.state('FR', { answer: DOWN });
  const account = await insertAccount(world);
  const malformed = Array.from({ length: 300 }, (_, n) => `FR${n}`);
  const id = await upload([...Array.from({ length: 30 }, (_, n) => numberOf('FR', n)), ...malformed], account);
  await until('the malformed lines to be done', async () => (await batchOf(id, account)).done === 300);
  expect(await batchOf(id, account)).toMatchObject({ status: 'running', done: 300, failed: 0, invalid: 300 });
  expect(await usageOf(account)).toMatchObject({ used: 0, reserved: 30 });
  await world.vies.state('FR', { answer: null });
  expect(await completed(id, account)).toMatchObject({ done: 330, valid: 30, invalid: 300 });
});

test.concurrent('a quota of three leaves the last two of five lines without a check', async () => {
  const account = await world.newAccount({ quota: '3' });
  const numbers = Array.from({ length: 5 }, (_, n) => numberOf('HU', n));
  const id = await upload(numbers, account);
  expect(await completed(id, account)).toMatchObject({ total: 5, done: 3, failed: 2, valid: 3, invalid: 0 });
  expect((await linesOf(id, account)).map((line) => line.error?.code ?? line.status)).toEqual([
    'done',
    'done',
    'done',
    'QUOTA_EXCEEDED',
    'QUOTA_EXCEEDED',
  ]);
  expect(await usageOf(account)).toMatchObject({ used: 3, reserved: 0 });
});

/** Positions of lookups in the order in which the upstream saw them. */
const placesOf = async (numbers: string[]): Promise<number[]> => {
  const lookedUp = (await world.vies.journal()).filter((lookup) => numbers[0]?.startsWith(lookup.member_state));
  return lookedUp.flatMap((lookup, n) => (numbers.includes(lookup.number) ? [n] : []));
};

test("one account's hundred and fifty lines do not delay another's ten of the same member state", async () => {
  const [large, small] = await Promise.all([insertAccount(world), insertAccount(world)]);
  await world.vies.state('SK', { latency_ms: 50 });
  const mine = Array.from({ length: 10 }, (_, n) => numberOf('SK', 1_000 + n));
  const largeId = await upload(
    Array.from({ length: 150 }, (_, n) => numberOf('SK', n)),
    large,
  );
  const lookups = async () => (await world.vies.stats()).states.SK?.total ?? 0;
  await until('the large batch to be under way', async () => (await lookups()) > 20);
  const smallId = await upload(mine, small);
  const lookupsBefore = await lookups();
  await completed(smallId, small);
  expect((await batchOf(largeId, large)).status).toBe('running');
  const places = await placesOf(mine);
  expect(places).toHaveLength(10);
  const [first = 0, last = 0] = [places.at(0), places.at(-1)];
  const within = last - first + 1;
  reportFigure(
    `batches: ten lines beside a hundred and fifty were looked up within ${within} lookups, after ${first - lookupsBefore}`,
  );
  // Twenty when the two take turns, and two in flight.
  expect(within).toBeLessThanOrEqual(22);
  // Until they are dispatched others are looked up, but not the twelve that the large batch has in Redis.
  expect(first - lookupsBefore).toBeLessThan(12);
  await completed(largeId, large);
});

test('a direct check gets the next slot of a member state that a batch keeps busy', async () => {
  await world.vies.state('MT', { latency_ms: 400 });
  const id = await upload(Array.from({ length: 24 }, (_, n) => numberOf('MT', n)));
  await until('the batch to be under way', async () => ((await world.vies.stats()).states.MT?.total ?? 0) > 1);
  const overtaking: number[] = [];
  for (const number of Array.from({ length: 3 }, (_, n) => numberOf('MT', 500 + n))) {
    const { body } = await world.http().post('/v1/checks', { vat_number: number }).expect(201);
    expect(body.valid).toBe(true);
    const [row] = await world.sql<{ created_at: Date }>('SELECT created_at FROM request WHERE vat_number = $1', [
      number,
    ]);
    const journal = await world.vies.journal();
    const lookedUp = journal.find((lookup) => lookup.number === number)?.at ?? Number.POSITIVE_INFINITY;
    const admitted = row?.created_at.getTime() ?? 0;
    overtaking.push(
      journal.filter((lookup) => lookup.member_state === 'MT' && lookup.at > admitted && lookup.at < lookedUp).length,
    );
  }
  // A line that got its slot while the call was being written down; without classes it would be all that wait in Redis.
  expect(Math.max(...overtaking)).toBeLessThanOrEqual(2);
  expect((await batchOf(id)).status).toBe('running');
  await completed(id);
});
