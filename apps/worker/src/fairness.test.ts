import { newUuid, uuidOf } from '@vat/domain';
import { insertAccount, numberOf, startWorld, type TestAccount, until, uploadBatch, type World } from '@vat/testkit';

// Everything is counted in lookups of the member state, not in time, so that a busy machine changes nothing.

type State = Parameters<typeof numberOf>[0];

/** How long the slots of a member state are occupied, so that its queue fills: longer than a busy machine needs. */
const OCCUPIED_MS = 6_000;

let world: World;
let other: TestAccount;
let numbers = 0;
beforeAll(async () => {
  world = await startWorld({
    settings: {
      UPSTREAM_WINDOW: '40s',
      UPSTREAM_ATTEMPT_TIMEOUT: '10s',
      WATCHES_EVERY: '100ms',
    },
  });
  await world.vies.defaults({ latency_ms: 120 });
  other = await insertAccount(world, { plan: 'enterprise' });
}, 60_000);
afterAll(() => world?.stop(), 60_000);

const newNumber = (state: State): string => {
  numbers += 1;
  return numberOf(state, numbers);
};
const newNumbers = (state: State, count: number) => Array.from({ length: count }, () => newNumber(state));
/** The numbers of a member state in the order of their first lookups. */
const lookedUp = async (state: State): Promise<string[]> => [
  ...new Set(
    (await world.vies.journal()).filter(({ member_state }) => member_state === state).map(({ number }) => number),
  ),
];
const underWay = (state: State, count: number) =>
  until(`${count} lookups of ${state}`, async () => (await lookedUp(state)).length >= count, 30_000);
/** How many lookups were made before that of a number, since there were `seen`. */
const overtakenBy = async (state: State, number: string, seen: number): Promise<number> => {
  await until(`the lookup of ${number}`, async () => (await lookedUp(state)).includes(number), 40_000);
  return (await lookedUp(state)).indexOf(number) - seen;
};
/** Occupies both slots of a member state while `work` adds to its queue; resolves when they are free again. */
const whileOccupied = async (state: State, work: () => Promise<unknown>): Promise<void> => {
  const occupying = newNumbers(state, 2);
  for (const number of occupying) await world.vies.script(number, [{ kind: 'valid', latency_ms: OCCUPIED_MS }]);
  const calls = occupying.map((number) => check(world.account, number));
  await underWay(state, 2);
  await work();
  // What follows is about the order of a queue that is complete.
  expect(await lookedUp(state)).toHaveLength(2);
  await Promise.all(calls);
};
/** Waits until a number's request is in the database, and so in the queue a moment later. */
const requested = (...vatNumbers: string[]) =>
  until('the requests', async () => {
    const rows = await world.sql('SELECT 1 FROM request WHERE vat_number = ANY($1)', [vatNumbers]);
    return rows.length === vatNumbers.length;
  });
const upload = async (account: TestAccount, rows: string[]) => {
  const { status } = await uploadBatch(world, ['vat_number', ...rows].join('\n'), { key: account.live_key });
  expect(status).toBe(201);
};
/** A direct call; it begins at once. Its answer is not part of these tests, but it must be one. */
const check = async (account: TestAccount, vatNumber: string) => {
  const { status } = await world.http(account.live_key).post('/v1/checks', { vat_number: vatNumber });
  expect([201, 202]).toContain(status);
};
/** Due watches, as after an import of a file. */
const importWatches = (account: TestAccount, vatNumbers: string[]) =>
  world.sql(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     SELECT w.id, $2, w.number, left(w.number, 2), substr(w.number, 3), w.number, 'daily', 'active', now(), now() - interval '1 hour'
     FROM unnest($1::uuid[], $3::text[]) AS w(id, number)`,
    [vatNumbers.map(newUuid), uuidOf('account', account.account_id), vatNumbers],
  );

const LOAD: [what: string, state: State, add: (state: State) => Promise<unknown>][] = [
  [
    'one account at its full rate',
    'DK',
    async (state) => {
      const numbers = newNumbers(state, 40);
      for (const number of numbers) void check(world.account, number);
      await requested(...numbers);
    },
  ],
  [
    'the full batches of another account',
    'HU',
    async (state) => {
      for (let n = 0; n < 3; n += 1) await upload(world.account, newNumbers(state, 30));
    },
  ],
  [
    'three hundred imported watches of another account',
    'MT',
    async (state) => {
      await importWatches(world.account, newNumbers(state, 300));
      await until(
        'their runs',
        async () => (await world.sql(`SELECT 1 FROM request WHERE origin = 'watch'`)).length >= 60,
      );
    },
  ],
];

test.concurrent.each(LOAD)(
  'a single call is looked up within four lookups beside %s',
  async (_what, state, add) => {
    const number = newNumber(state);
    await whileOccupied(state, async () => {
      await add(state);
      void check(other, number);
      await requested(number);
    });
    expect(await overtakenBy(state, number, 2)).toBeLessThanOrEqual(4);
  },
  60_000,
);

test('a watch and a line of others are looked up within two windows of lookups beside a full batch and imported watches', async () => {
  const [line, watched] = newNumbers('SI', 2) as [string, string];
  await whileOccupied('SI', async () => {
    await upload(world.account, newNumbers('SI', 100));
    await importWatches(world.account, newNumbers('SI', 300));
    await until('both', async () => {
      const rows = await world.sql(
        `SELECT DISTINCT origin FROM request WHERE country_code = 'SI' AND origin <> 'direct'`,
      );
      return rows.length === 2;
    });
    await upload(other, [line]);
    await importWatches(other, [watched]);
  });
  for (const number of [line, watched]) expect(await overtakenBy('SI', number, 2)).toBeLessThanOrEqual(40);
}, 60_000);

test('a batch goes on beside endless direct calls', async () => {
  const rows = newNumbers('FI', 100);
  await upload(world.account, rows);
  const callers = await Promise.all(Array.from({ length: 4 }, () => insertAccount(world, { plan: 'enterprise' })));
  const stop = new AbortController();
  const endless = callers.flatMap((account) =>
    Array.from({ length: 3 }, async () => {
      while (!stop.signal.aborted) await check(account, newNumber('FI'));
    }),
  );
  const isLine = new Set(rows);
  const linesDone = async () => (await lookedUp('FI')).filter((number) => isLine.has(number)).length;
  await underWay('FI', 20);
  const before = { lines: await linesDone(), all: (await lookedUp('FI')).length };
  await underWay('FI', before.all + 40);
  stop.abort();
  await Promise.all(endless);
  expect(await linesDone()).toBeGreaterThan(before.lines + 3);
}, 60_000);
