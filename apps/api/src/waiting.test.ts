import { startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const WINDOW_MS = 1_500;
const SATURATED = { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' };

let world: World;
let caller: () => ReturnType<World['http']>;
beforeAll(async () => {
  // A lookup may last longer than the window here, so that a held slot stays held until the call has been answered.
  world = await startWorld({ settings: { UPSTREAM_WINDOW: `${WINDOW_MS}ms`, UPSTREAM_ATTEMPT_TIMEOUT: '2500ms' } });
  caller = await crowd(world, world.account.account_id);
});
afterAll(() => world?.stop());

type Entry = { source: string; outcome: string; code?: string; attempts?: number; backpressure?: true };

const check = async (vatNumber: string) => {
  const startedAt = performance.now();
  const { status, body, headers } = await caller().post('/v1/checks', { vat_number: vatNumber });
  return { status, body, headers, tookMs: performance.now() - startedAt };
};
const viesEntry = (body: { checks: Entry[] }) => body.checks.find(({ source }) => source === 'vies');
const askedFor = async (vatNumber: string) => (await world.vies.journal(vatNumber)).length;
const completed = (requestId: string) =>
  until(`${requestId} to complete`, async () => {
    const { body } = await caller().get(`/v1/requests/${requestId}`);
    return body.status === 'completed' && body;
  });

/** The alerts of the operator. */
const alarms = (): string =>
  (world.workers[0]?.lines() ?? [])
    .filter((line) => line.includes('"level":"error"') && line.includes('The upstream '))
    .join('\n');

/** Measured by the service's own clock: delays between the service and this process do not count. */
const expectWindow = (request: { created_at: string; accepted_at: string }) => {
  const waitedMs = Date.parse(request.accepted_at) - Date.parse(request.created_at);
  expect(waitedMs).toBeGreaterThan(WINDOW_MS - 1_000);
  expect(waitedMs).toBeLessThan(WINDOW_MS + 1_000);
};

/** All ways of not answering, each for a different member state, so that none waits for another's slot. */
const SILENCES: [kind: string, vatNumber: string, answer: unknown, outcomes: string[]][] = [
  ['hangs', 'AT U13585627', 'hang', ['timeout']],
  ['drips', 'BE0428759497', 'drip', ['timeout']],
  ['resets the connection', 'BG175074752', 'reset', ['unavailable']],
  ['sends HTML', 'CY10259033P', 'html', ['unavailable']],
  ['sends half a JSON', 'CZ25123891', 'half_json', ['unavailable']],
  ['leaves valid out', 'DE136695976', 'missing_valid', ['unavailable']],
  ['sends valid as a string', 'DK13585628', 'valid_as_string', ['unavailable']],
  ['sends false beside an error', 'EE100931558', 'false_with_error', ['unavailable']],
  ['sends false under a 500', 'EL094259216', 'false_under_500', ['unavailable']],
  ['sends nothing', 'ESA28184661', 'empty', ['unavailable']],
  ['sends without end', 'FI20774740', 'huge', ['unavailable', 'timeout']],
  ['sends VOW-ERR-1', 'FR83404833048', 'vow_error', ['unavailable']],
  ['misses a field', 'SI15012557', { kind: 'error', code: 'VOW-ERR-11', form: 'message' }, ['unavailable']],
  ['answers 429', 'HR33392005961', { kind: 'status', status: 429 }, ['unavailable']],
  ['answers 503', 'HU12892312', { kind: 'status', status: 503, body: 'down' }, ['unavailable']],
  ['sends an unknown code', 'IE6433435F', { kind: 'error', code: 'SOMETHING_NEW' }, ['unavailable']],
  ['says SERVER_BUSY', 'LU12345613', { kind: 'error', code: 'SERVER_BUSY' }, ['unavailable']],
  ['says TIMEOUT', 'PT502757191', { kind: 'error', code: 'TIMEOUT' }, ['timeout']],
  ['says VAT_BLOCKED', 'MT11679112', { kind: 'error', code: 'VAT_BLOCKED' }, ['blocked']],
];
const numberOf = (spelt: string) => spelt.replaceAll(' ', '');

describe('an upstream that', () => {
  let answers: Map<string, Awaited<ReturnType<typeof check>>>;
  let usageWhilePending: { used: number; reserved: number };
  let checksWhilePending: unknown[];

  beforeAll(async () => {
    await Promise.all(SILENCES.map(([, number, answer]) => world.vies.script(numberOf(number), [answer])));
    answers = new Map(await Promise.all(SILENCES.map(async ([kind, number]) => [kind, await check(number)] as const)));
    usageWhilePending = (await caller().get('/v1/usage')).body;
    checksWhilePending = (await caller().get('/v1/checks')).body.data;
    await Promise.all(SILENCES.map(([, number]) => world.vies.script(numberOf(number), ['valid'])));
  });

  test.each(SILENCES)(
    '%s is answered 202 at the end of the window, and completes later',
    async (kind, number, _, outcomes) => {
      const answer = answers.get(kind);
      expect(answer?.status).toBe(202);
      // A lookup that is open when the window ends counts as timed out, whatever the earlier lookups got.
      expect([...outcomes, 'timeout']).toContain(viesEntry(answer?.body)?.outcome);
      const request = await completed(answer?.body.request_id);
      expectWindow(request);
      expect(request.check).toMatchObject({ vat_number: numberOf(number), valid: true, verdict: 'valid' });
    },
  );

  test('does not answer consumes nothing and writes no check; each request holds one unit until its answer', async () => {
    expect(usageWhilePending).toMatchObject({ used: 0, reserved: SILENCES.length });
    expect(checksWhilePending).toEqual([]);
    await Promise.all([...answers.values()].map(({ body }) => completed(body.request_id)));
    expect((await caller().get('/v1/usage')).body).toMatchObject({ used: SILENCES.length, reserved: 0 });
  });

  test('blocks a number or calls a request incomplete alerts the operator', async () => {
    expect(alarms()).toContain('"VAT_BLOCKED"');
    expect(alarms()).toMatch(
      /"VOW-ERR-11".*rejects our requests as incomplete|rejects our requests as incomplete.*"VOW-ERR-11"/,
    );
    const metrics = await fetch(`http://127.0.0.1:${String(world.workers[0]?.ready.metrics_port)}/metrics`);
    const counted = /vat_upstream_alarms_total\{code="VOW-ERR-11"[^}]*\} (\d+)/.exec(await metrics.text());
    expect(Number(counted?.[1])).toBeGreaterThanOrEqual(1);
  });
});

describe('a saturated member state', () => {
  const CASES: [answers: string, vatNumber: string, script: unknown[]][] = [
    ['always', 'PL5261040828', [SATURATED]],
    ['by the code with _TIME', 'RO18547290', [{ kind: 'error', code: 'MS_MAX_CONCURRENT_REQ_TIME' }]],
    ['and then hangs', 'SE556703748501', [SATURATED, 'hang']],
    ['and then says TIMEOUT', 'LT119511515', [SATURATED, SATURATED, { kind: 'error', code: 'TIMEOUT' }]],
  ];
  let answers: Map<string, Awaited<ReturnType<typeof check>>>;

  beforeAll(async () => {
    await Promise.all(CASES.map(([, number, script]) => world.vies.script(number, script)));
    answers = new Map(await Promise.all(CASES.map(async ([, number]) => [number, await check(number)] as const)));
    await Promise.all(CASES.map(([, number]) => world.vies.script(number, ['valid'])));
  });

  test.each(CASES)('that answers so %s is reported with its code, never as invalid (%s)', async (_, number) => {
    const answer = answers.get(number);
    expect(answer?.status).toBe(202);
    expect(answer?.body).not.toHaveProperty('valid');
    expect(viesEntry(answer?.body)).toMatchObject({ outcome: 'saturated', code: 'MS_MAX_CONCURRENT_REQ' });
    expect(viesEntry(answer?.body)?.attempts).toBeGreaterThan(1);
    const request = await completed(answer?.body.request_id);
    expectWindow(request);
    expect(request.check.valid).toBe(true);
  });

  test('that answers within the window makes a 201 that counts its attempts', async () => {
    await world.vies.script('NL123456789B01', [SATURATED, SATURATED, 'valid']);
    const { status, body } = await check('NL123456789B01');
    expect(status).toBe(201);
    expect(viesEntry(body)).toMatchObject({ outcome: 'valid', attempts: 3 });
    expect(viesEntry(body)).not.toHaveProperty('code');
  });

  test('leaves its slots free between lookups: a third number is answered while two wait', async () => {
    await world.vies.script('SI50223054', [SATURATED]);
    await world.vies.script('SI50223055', [SATURATED]);
    const waiting = Promise.all([check('SI50223054'), check('SI50223055')]);
    await until(
      'both to be asked',
      async () => (await askedFor('SI50223054')) > 0 && (await askedFor('SI50223055')) > 0,
    );
    const third = await check('SI50223056');
    expect([third.status, third.body.valid]).toEqual([201, true]);
    const [one, two] = await waiting;
    expect([one.status, two.status]).toEqual([202, 202]);
    expect(third.tookMs).toBeLessThan(WINDOW_MS);
    await world.vies.script('SI50223054', ['valid']);
    await world.vies.script('SI50223055', ['valid']);
    await Promise.all([completed(one.body.request_id), completed(two.body.request_id)]);
  });
});

test('a call that gets no slot is answered so, without a lookup', async () => {
  const hanging = ['LV40003521600', 'LV40003521601'];
  await Promise.all(hanging.map((number) => world.vies.script(number, ['hang', 'valid'])));
  const holders = Promise.all(hanging.map(check));
  await until('both slots to be taken', async () => ((await world.vies.stats()).states.LV?.in_flight ?? 0) === 2);
  const third = await check('LV40003521602');
  expect(third.status).toBe(202);
  expect(viesEntry(third.body)).toMatchObject({ backpressure: true, detail: 'The upstream had not been asked yet.' });
  expect(await askedFor('LV40003521602')).toBe(0);
  const done = await completed(third.body.request_id);
  expect(viesEntry(done.check)).toMatchObject({ outcome: 'valid', attempts: 1, backpressure: true });
  for (const { status, body } of await holders) {
    expect(status).toBe(202);
    await completed(body.request_id);
  }
  expect((await world.vies.stats()).states.LV?.max_in_flight).toBe(2);
});

test('global saturation has its own code', async () => {
  await world.vies.script('IT00159560366', [{ kind: 'error', code: 'GLOBAL_MAX_CONCURRENT_REQ_TIME' }]);
  const { status, body } = await check('IT00159560366');
  expect(status).toBe(202);
  expect(viesEntry(body)).toMatchObject({ outcome: 'saturated', code: 'GLOBAL_MAX_CONCURRENT_REQ' });
  await world.vies.script('IT00159560366', ['valid']);
  expect((await completed(body.request_id)).check.valid).toBe(true);
});

test('a Retry-After under 429 delays every lookup, also of other member states', async () => {
  const [first, other] = ['DE811569869', 'FR61954506077'];
  await world.vies.script(first, [{ kind: 'status', status: 429, retry_after: 4 }, 'valid']);
  const limited = await check(first);
  expect([limited.status, viesEntry(limited.body)?.outcome]).toEqual([202, 'unavailable']);
  const held = await check(other);
  await completed(limited.body.request_id);
  await until('the other one to be looked up', async () => (await world.vies.journal(other))[0]?.finished_at);
  const [refused, again] = await world.vies.journal(first);
  const [elsewhere] = await world.vies.journal(other);
  // A job may start a tenth of a second early.
  const from = (refused?.finished_at ?? Number.NaN) + 3_850;
  expect([again, elsewhere].map((lookup) => (lookup?.at ?? 0) >= from)).toEqual([true, true]);
  if (held.status === 202) await completed(held.body.request_id);
});

test('an upstream that blocks the service gets no lookups for a while', async () => {
  const [first, other] = ['SK2022749619', 'FR40303265045'];
  await world.vies.script(first, [{ kind: 'error', code: 'IP_BLOCKED' }, 'valid']);
  const blocked = check(first);
  await until('the alarm', () => alarms().includes('"IP_BLOCKED"'));
  const held = await check(other);
  expect(held.status).toBe(202);
  expect(viesEntry(held.body)).toMatchObject({ attempts: 0, detail: 'The upstream had not been asked yet.' });
  expect([await askedFor(first), await askedFor(other)]).toEqual([1, 0]);
  const { status, body } = await blocked;
  expect([status, viesEntry(body)?.outcome]).toEqual([202, 'blocked']);
  await Promise.all([completed(body.request_id), completed(held.body.request_id)]);
});
