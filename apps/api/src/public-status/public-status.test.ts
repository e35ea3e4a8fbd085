import { publicStatusSchema, statusHistorySchema, statusSchema } from '@vat/contracts';
import { startWorld, until, type World } from '@vat/testkit';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The hour in which the tests begin. It may end before they do. */
const HOUR = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const hourAgo = (hours: number) => new Date(HOUR - hours * HOUR_MS);

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const buckets = [0, 0, 0, 0, 0, 0, 0, 0, 90, 0, 10];
  for (const [state, hours, answered, saturated, unavailable] of [
    ['DE', 2, 90, 8, 2],
    ['DE', 24 * 20, 10, 90, 0],
    ['FR', 2, 100, 0, 0],
    ['FR', 24 * 35, 100, 0, 0],
  ])
    await world.sql('INSERT INTO upstream_hour VALUES ($1, $2, $3, $4, $5, $6)', [
      state,
      hourAgo(Number(hours)),
      answered,
      saturated,
      unavailable,
      buckets,
    ]);
});
afterAll(() => world?.stop());

const history = (query = '') => world.http().get(`/v1/status/history${query}`);

test('the history has an entry for each hour with lookups, oldest first, of the last day by default', async () => {
  const { body } = await history().expect(200);
  expect(statusHistorySchema.safeParse(body).error).toBeUndefined();
  expect(Date.parse(body.to) - Date.parse(body.from)).toBe(DAY_MS);
  expect(body.data).toEqual([
    {
      hour: hourAgo(2).toISOString(),
      member_state: 'DE',
      asked: 100,
      answered: 90,
      saturated: 8,
      unavailable: 2,
      p50_ms: 200,
      p95_ms: 450,
    },
    expect.objectContaining({ member_state: 'FR', asked: 100, answered: 100 }),
  ]);
});

test('the history is filtered by member state and period, and refuses more than 31 days', async () => {
  const from = hourAgo(24 * 30).toISOString();
  const german = (await history(`?member_state=DE&from=${from}`).expect(200)).body;
  expect(german.data.map(({ asked, saturated }: Record<string, number>) => [asked, saturated])).toEqual([
    [100, 90],
    [100, 8],
  ]);
  const old = (await history(`?from=${hourAgo(24 * 36).toISOString()}&to=${hourAgo(24 * 34).toISOString()}`)).body;
  expect(old.data.map(({ member_state }: Record<string, string>) => member_state)).toEqual(['FR']);
  for (const query of [
    `?from=${hourAgo(24 * 32).toISOString()}`,
    '?from=2026-01-01&to=2026-02-02',
    '?member_state=US',
  ]) {
    const { body } = await history(query).expect(400);
    expect(body.error.code).toBe('BAD_REQUEST');
  }
});

test('a period that begins or ends after the year 9999 in UTC is shown in RFC 3339', async () => {
  const last = '9999-12-31T23:59:59.999Z';
  expect((await history('?to=9999-12-31T23:59:59-12:00').expect(200)).body).toMatchObject({ to: last, data: [] });
  expect((await history('?from=9999-12-31T23:59:59-12:00').expect(200)).body).toMatchObject({ from: last, data: [] });
});

test('the lookups of the workers are counted by the hour, over all of them', async () => {
  await world.http().post('/v1/checks', { vat_number: 'NL004495445B01' }).expect(201);
  await world.http().post('/v1/checks', { vat_number: 'NL010000446B01' }).expect(201);
  const dutch = await until('both lookups', async () => {
    const { data } = (await history('?member_state=NL').expect(200)).body as { data: { asked: number }[] };
    return data.reduce((sum, { asked }) => sum + asked, 0) === 2 && data;
  });
  expect(dutch.at(-1)).toMatchObject({ saturated: 0, unavailable: 0, p50_ms: expect.any(Number) });
});

test('the public status needs no key: the member states now, 30 days of hours, cacheable for a minute', async () => {
  const answer = await world.http(null).get('/status.json').expect(200);
  expect(answer.headers).toMatchObject({ 'cache-control': 'public, max-age=60', vary: 'Accept-Encoding' });
  expect(publicStatusSchema.safeParse(answer.body).error).toBeUndefined();
  expect(answer.body.member_states).toHaveLength(28);
  const shown = (answer.body.history.data as { member_state: string; asked: number }[]).filter(
    ({ member_state }) => member_state === 'DE' || member_state === 'FR',
  );
  expect(shown.map(({ member_state }) => member_state)).toEqual(['DE', 'DE', 'FR']);
  const etag = String(answer.headers.etag);
  await world.http(null).get('/status.json').set('If-None-Match', etag).expect(304);
});

test('the page shows every member state with its history, without scripts', async () => {
  const answer = await world
    .http(null)
    .get('/status')
    .expect(200)
    .expect('Content-Type', /^text\/html/);
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  expect(answer.text).not.toContain('<script');
  expect(answer.text.match(/class="tile /g)).toHaveLength(28);
  // 100 of 200 lookups of Germany were answered. Its first hour is 20 days ago, the 240th of the 30 days, or the one before.
  expect(answer.text).toMatch(
    /Germany <span>DE<\/span>.*<path class="degraded" d="M(?:239|240) 0h1v1h-1z"\/>.*50\.0 % answered/,
  );
});

type State = {
  member_state: string;
  health: string;
  asks: number;
  answered: number | null;
  saturated: number | null;
  queue_depth: number;
  oldest_wait_ms: number | null;
  oldest_waits_ms: Record<string, number | null>;
  p50_ms: number | null;
};
const stateOf = async (code: string): Promise<State | undefined> => {
  const { body } = await world.http().get('/v1/status').expect(200);
  return (body.member_states as State[]).find((state) => state.member_state === code);
};

test('every member state has an entry, and one without lookups is unknown', async () => {
  const { body } = await world.http().get('/v1/status').expect(200);
  expect(statusSchema.safeParse(body).error).toBeUndefined();
  expect(body.member_states).toHaveLength(28);
  expect(await stateOf('MT')).toMatchObject({ health: 'unknown', asks: 0, answered: null, queue_depth: 0 });
});

test('what the workers observed is shown a few seconds later, by member state', async () => {
  await world.http().post('/v1/checks', { vat_number: 'FR40303265045' }).expect(201);
  await world.vies.state('HU', { answer: { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' } });
  await world.http().post('/v1/checks', { vat_number: 'HU12892312' }).expect(202);
  const seen = await until('the figures of both', async () => {
    const [france, hungary] = [await stateOf('FR'), await stateOf('HU')];
    return france && france.asks > 0 && hungary && hungary.asks > 0 && { france, hungary };
  });
  expect(seen.france).toMatchObject({ health: 'ok', answered: 1, saturated: 0, p50_ms: expect.any(Number) });
  expect(seen.hungary).toMatchObject({ health: 'degraded', answered: 0, saturated: 1 });
});

test('a member state whose slots are taken shows how many requests wait, and how long', async () => {
  await world.vies.state('PL', { answer: { kind: 'hang' } });
  // A supertest call begins when it is awaited.
  // More than are seen: one whose lookup was cut off waits for the time of its next one.
  const calls = Array.from({ length: 8 }, async (_, n) =>
    world.http().post('/v1/checks', { vat_number: `PL${5_260_001_246 + n}` }),
  );
  const waiting = await until('a queue', async () => {
    const state = await stateOf('PL');
    return state && state.queue_depth >= 3 && state;
  });
  expect(waiting.oldest_wait_ms).toBeGreaterThanOrEqual(0);
  const byClass = Object.values(waiting.oldest_waits_ms).filter((ms) => ms !== null);
  expect(Math.max(...byClass)).toBe(waiting.oldest_wait_ms);
  await Promise.all(calls);
});

test('PUBLIC_STATUS=off turns both off', async () => {
  const closed = await world.startApi({ PUBLIC_STATUS: 'off' });
  for (const path of ['/status', '/status.json']) {
    const answer = await fetch(`${String(closed.ready.base_url)}${path}`);
    const { error } = (await answer.json()) as { error: { code: string } };
    expect([answer.status, error.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('one network may read them twenty times a second', async () => {
  const calls = Array.from({ length: 100 }, () => world.http(null).get('/status.json'));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});
