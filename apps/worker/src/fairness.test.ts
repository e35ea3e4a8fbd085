import { newUuid, uuidOf } from '@vat/domain';
import {
  faultSize,
  insertAccount,
  type NumberedState,
  numberSequence,
  startWorld,
  type TestAccount,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';

// Everything is counted in lookups of the member state and not in time, so that a busy machine changes nothing. The queues are
// filled before the process starts that looks up.

/** The account that loads every member state, and one with a single call, line or watch. */
let heavy: TestAccount;
let single: TestAccount;
let world: World;
const calls: Promise<void>[] = [];

const nextNumber = numberSequence();
const newNumbers = (state: NumberedState, count: number) => Array.from({ length: count }, () => nextNumber(state));
/** A direct call; it begins at once. */
const check = async (account: TestAccount, vatNumber: string): Promise<void> => {
  const { status } = await world.http(account.live_key).post('/v1/checks', { vat_number: vatNumber });
  expect([201, 202]).toContain(status);
};
const upload = async (account: TestAccount, rows: string[]) => {
  const { status } = await uploadBatch(world, ['vat_number', ...rows].join('\n'), { key: account.live_key });
  expect(status).toBe(201);
};
/** Due watches, as after an import of a file. */
const importWatches = (account: TestAccount, vatNumbers: string[]) =>
  world.sql(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     SELECT w.id, $2, w.number, left(w.number, 2), substr(w.number, 3), w.number, 'daily', 'active', now(), now() - interval '1 hour'
     FROM unnest($1::uuid[], $3::text[]) AS w(id, number)`,
    [vatNumbers.map(newUuid), uuidOf('account', account.account_id), vatNumbers],
  );
/** Waits until a member state has so many requests of an origin in its queue, or on the way there. */
const enqueued = (state: NumberedState, origin: 'direct' | 'batch' | 'watch', count: number) =>
  until(`${count} requests of ${origin} in ${state}`, async () => {
    const rows = await world.sql('SELECT 1 FROM request WHERE country_code = $1 AND origin = $2 AND fed', [
      state,
      origin,
    ]);
    return rows.length >= count;
  });
/** The numbers of a member state in the order of their first lookups. */
const lookedUp = async (state: NumberedState): Promise<string[]> => [
  ...new Set(
    (await world.vies.journal()).filter(({ member_state }) => member_state === state).map(({ number }) => number),
  ),
];
/** How many other numbers were looked up before a number. */
const lookupsBefore = async (state: NumberedState, number: string): Promise<number> => {
  await until(`the lookup of ${number}`, async () => (await lookedUp(state)).includes(number), 40_000);
  return (await lookedUp(state)).indexOf(number);
};

const LINES_IN_WINDOW = 12;
const BATCHES = faultSize(3, 5);
const LINES = faultSize(30, 10_000);
const WATCHES = faultSize(300, 50_000);

/** What the other account has in the queue of a member state before a single call. */
const LOAD = {
  DK: async () => {
    for (const number of newNumbers('DK', 40)) calls.push(check(heavy, number));
    await enqueued('DK', 'direct', 40);
  },
  HU: async () => {
    for (let n = 0; n < BATCHES; n += 1) await upload(heavy, newNumbers('HU', LINES));
    await enqueued('HU', 'batch', LINES_IN_WINDOW);
  },
  MT: async () => {
    await importWatches(heavy, newNumbers('MT', WATCHES));
    await enqueued('MT', 'watch', 60);
  },
};
const LOADED = [
  ['the calls of one account at its full rate', 'DK'],
  ['the full batches of another account', 'HU'],
  ['the imported watches of another account', 'MT'],
] as const;

let singles: Record<keyof typeof LOAD, string>;
let line: string;
let watched: string;
let endless: string[];
beforeAll(async () => {
  world = await startWorld({
    workers: 0,
    settings: { UPSTREAM_WINDOW: '60s', UPSTREAM_ATTEMPT_TIMEOUT: '10s', WATCHES_EVERY: '100ms' },
  });
  await world.vies.defaults({ latency_ms: 60 });
  heavy = await insertAccount(world, { plan: 'enterprise' });
  // An account has at most five batches under way.
  const uploader = await insertAccount(world, { plan: 'enterprise' });
  single = await insertAccount(world, { plan: 'enterprise' });
  await world.startWorker({ WORKER_QUEUES: 'batches,watches,maintenance' });
  const [DK, HU, MT] = LOADED.map(([, state]) => newNumbers(state, 1)[0] ?? '') as [string, string, string];
  singles = { DK, HU, MT };
  for (const [, state] of LOADED) {
    await LOAD[state]();
    calls.push(check(single, singles[state]));
    await enqueued(state, 'direct', state === 'DK' ? 41 : 1);
  }
  [line = '', watched = ''] = newNumbers('SI', 2);
  await upload(uploader, newNumbers('SI', 100));
  await importWatches(uploader, newNumbers('SI', 300));
  await Promise.all([enqueued('SI', 'batch', LINES_IN_WINDOW), enqueued('SI', 'watch', 60)]);
  await upload(single, [line]);
  await importWatches(single, [watched]);
  endless = newNumbers('FI', 100);
  await upload(uploader, endless);
  await world.startWorker({ WORKER_QUEUES: 'checks,webhooks' });
});
afterAll(() => world?.stop());

test.each(LOADED)('a single call is looked up within four lookups beside %s', async (_what, state) => {
  expect(await lookupsBefore(state, singles[state])).toBeLessThanOrEqual(4);
});

test('a line and a watch are looked up soon beside the full batch and the imported watches of another account', async () => {
  for (const number of [line, watched]) expect(await lookupsBefore('SI', number)).toBeLessThanOrEqual(40);
});

test('a batch goes on beside endless direct calls', async () => {
  const callers = await Promise.all(Array.from({ length: 4 }, () => insertAccount(world, { plan: 'enterprise' })));
  const stop = new AbortController();
  const calling = callers.flatMap((account) =>
    Array.from({ length: 3 }, async () => {
      while (!stop.signal.aborted) await check(account, newNumbers('FI', 1)[0] ?? '');
    }),
  );
  const lines = new Set(endless);
  const linesDone = async () => (await lookedUp('FI')).filter((number) => lines.has(number)).length;
  await until('direct calls', async () => (await lookedUp('FI')).some((number) => !lines.has(number)));
  const [done, all] = [await linesDone(), (await lookedUp('FI')).length];
  await until('forty more lookups', async () => (await lookedUp('FI')).length >= all + 40);
  expect(await linesDone()).toBeGreaterThan(done + 3);
  stop.abort();
  await Promise.all(calling);
});

test('every call was answered', async () => {
  await Promise.all(calls);
});
