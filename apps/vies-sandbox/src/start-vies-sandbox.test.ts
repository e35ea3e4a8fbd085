import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { type LookupOutcome, MEMBER_STATES } from '@vat/domain';
import { until } from '@vat/testkit';
import { createViesClient } from '@vat/vies';
import { startViesSandbox, type ViesSandbox } from './start-vies-sandbox.js';
import type { JournalEntry, TrafficStats } from './traffic.js';

const REST_BASE = '/taxation_customs/vies/rest-api';

let sandbox: ViesSandbox;
beforeAll(async () => {
  sandbox = await startViesSandbox();
});
afterEach(() => control('DELETE', ''));
afterAll(() => sandbox.close());

const control = async (method: string, path: string, body?: unknown) => {
  const sent = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(`${sandbox.url}/_control${path}`, { method, body: sent });
  return { status: response.status, body: await response.json() };
};
const put = async (path: string, body: unknown) => {
  expect(await control('PUT', path, body)).toEqual({ status: 200, body: { ok: true } });
};
const stats = async () => (await control('GET', '/stats')).body as TrafficStats;
const journal = async (number = '') =>
  (await control('GET', `/journal${number && `?number=${number}`}`)).body as JournalEntry[];

const post = async (fields: Record<string, unknown>, path = '/check-vat-number') => {
  const response = await fetch(sandbox.url + path, { method: 'POST', body: JSON.stringify(fields) });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};
const lookUp = async (number: string, more: Record<string, unknown> = {}, path?: string) => {
  const { status, text } = await post({ countryCode: number.slice(0, 2), vatNumber: number.slice(2), ...more }, path);
  return { status, body: JSON.parse(text) };
};

/** Sends a lookup without waiting, for answers that never arrive. */
const open = (number: string): ClientRequest => {
  const sent = request(`${sandbox.url}/check-vat-number`, { method: 'POST' });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify({ countryCode: number.slice(0, 2), vatNumber: number.slice(2) }));
  return sent;
};

describe('the wire format', () => {
  test.each(['', REST_BASE])('answers valid below %j, as VIES does', async (base) => {
    const { status, body } = await lookUp('FR40303265045', {}, `${base}/check-vat-number`);
    expect(status).toBe(200);
    expect(body).toEqual({
      countryCode: 'FR',
      vatNumber: '40303265045',
      requestDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      valid: true,
      requestIdentifier: '',
      name: 'Sandbox Trader FR40303265045',
      address: '1 Sandbox Street\n1000 Testville',
      traderName: '---',
      traderStreet: '---',
      traderPostalCode: '---',
      traderCity: '---',
      traderCompanyType: '---',
      traderNameMatch: 'NOT_PROCESSED',
      traderStreetMatch: 'NOT_PROCESSED',
      traderPostalCodeMatch: 'NOT_PROCESSED',
      traderCityMatch: 'NOT_PROCESSED',
      traderCompanyTypeMatch: 'NOT_PROCESSED',
    });
  });

  test('discloses nothing for Germany and Spain', async () => {
    expect((await lookUp('DE123456789')).body).toMatchObject({ valid: true, name: '---', address: '---' });
    expect((await lookUp('ESB58378431')).body).toMatchObject({ valid: true, name: '---', address: '---' });
  });

  test.each([
    ['half a requester', { requesterMemberStateCode: 'AT' }, 'VOW-ERR-11'],
    ['a requester outside the member states', { requesterMemberStateCode: 'GB', requesterNumber: '1' }, 'VOW-ERR-2500'],
    [
      'a requester that does not match the pattern',
      { requesterMemberStateCode: 'AT', requesterNumber: 'U 1' },
      'VOW-ERR-2700',
    ],
    ['a number that does not match the pattern', { vatNumber: '40 303 265' }, 'VOW-ERR-2600'],
    ['no number', { vatNumber: '' }, 'VOW-ERR-11'],
    ['an unknown company type', { traderCompanyType: 'GmbH' }, 'INVALID_INPUT'],
  ])('refuses %s with its code', async (_what, fields, code) => {
    const { status, body } = await lookUp('FR40303265045', fields);
    expect([status, body.errorWrappers[0].error]).toEqual([code === 'INVALID_INPUT' ? 200 : 400, code]);
    expect(body.errorWrappers[0].message).toMatch(/./);
  });

  test('returns a new consultation number for a requester, and matches the trader', async () => {
    const more = {
      requesterMemberStateCode: 'AT',
      requesterNumber: 'U12345678',
      traderName: 'ACME',
      traderCity: 'wrong',
    };
    const [one, two] = [(await lookUp('FR1', more)).body, (await lookUp('FR1', more)).body];
    expect(one).toMatchObject({ traderName: 'ACME', traderNameMatch: 'VALID', traderCityMatch: 'INVALID' });
    expect(one.requestIdentifier).toMatch(/^WAPI[0-9A-Z]{12}$/);
    expect(two.requestIdentifier).not.toBe(one.requestIdentifier);
    const [seen] = await journal('FR1');
    expect(seen).toMatchObject({ requester: 'ATU12345678', trader: { name: 'ACME', city: 'wrong' } });
  });

  test.each(['/check-vat-number', '/check-vat-test-service'])(
    'answers the numbers of the test service at %s',
    async (path) => {
      expect((await lookUp('DE100', {}, path)).body).toMatchObject({ valid: true });
      expect((await lookUp('DE200', {}, path)).body).toMatchObject({ valid: false });
      expect((await lookUp('DE601', {}, path)).body).toEqual({
        actionSucceed: false,
        errorWrappers: [{ error: 'MS_MAX_CONCURRENT_REQ_TIME' }],
      });
    },
  );

  test('refuses what VIES refuses', async () => {
    expect((await lookUp('DE123456789', {}, '/check-vat-test-service')).body.errorWrappers).toEqual([
      { error: 'SERVICE_UNAVAILABLE' },
    ]);
    expect(await post({ countryCode: 'DE' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('VOW-ERR-11'),
    });
    expect(await lookUp('GB123456789')).toMatchObject({
      status: 200,
      body: { errorWrappers: [{ error: 'INVALID_INPUT' }] },
    });
    const response = await fetch(`${sandbox.url}/check-vat-number`, { method: 'POST', body: '{"half' });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ actionSucceed: false })]);
  });

  test('reports every member state as available, like the real service', async () => {
    const status = await (await fetch(`${sandbox.url}${REST_BASE}/check-status`)).json();
    expect(status).toEqual({
      vow: { available: true },
      countries: MEMBER_STATES.map((countryCode) => ({ countryCode, availability: 'Available' })),
    });
    expect((await fetch(`${sandbox.url}/elsewhere`)).status).toBe(404);
  });
});

describe('scripted answers', () => {
  type Shape = [answer: unknown, status: number, text: RegExp];
  const SHAPES: Shape[] = [
    [{ kind: 'valid', name: 'ACME', address: 'Here' }, 200, /"valid":true.*"name":"ACME","address":"Here"/],
    ['invalid', 200, /"valid":false/],
    [
      { kind: 'error', code: 'MS_UNAVAILABLE' },
      200,
      /^{"actionSucceed":false,"errorWrappers":\[{"error":"MS_UNAVAILABLE"}\]}$/,
    ],
    [{ kind: 'error', code: 'IP_BLOCKED', status: 403 }, 403, /IP_BLOCKED/],
    ['vow_error', 500, /VOW-ERR-1"/],
    [{ kind: 'error', code: 'VOW-ERR-1' }, 500, /^{"actionSucceed":false,"errorWrappers":\[{"error":"VOW-ERR-1"}\]}$/],
    [{ kind: 'error', code: 'VOW-ERR-2600', form: 'message' }, 400, /"error":"VOW-ERR-2600","message":"The VAT number/],
    [{ kind: 'error', code: 'VOW-ERR-2500', form: 'error' }, 400, /"status":400,"error":"VOW-ERR-2500"/],
    [{ kind: 'error', code: 'VOW-ERR-2700', form: 'text' }, 400, /^VOW-ERR-2700: The requester VAT number/],
    [{ kind: 'error', code: 'VOW-ERR-11', form: 'text', message: 'x', status: 200 }, 200, /^VOW-ERR-11: x$/],
    [{ kind: 'error', code: 'INVALID_INPUT', form: 'message' }, 200, /Some data are invalid in the request/],
    [
      { kind: 'error', code: 'MS_UNAVAILABLE', form: 'user_error' },
      200,
      /"isValid":false.*"userError":"MS_UNAVAILABLE"/,
    ],
    [{ kind: 'html', status: 502 }, 502, /^<!DOCTYPE html>/],
    ['html', 200, /^<!DOCTYPE html>/],
    ['half_json', 200, /^{"countryCode".*[^}]$/],
    ['missing_valid', 200, /^(?!.*"valid":).*"name"/],
    ['valid_as_string', 200, /"valid":"true"/],
    ['false_with_error', 200, /"valid":false.*MS_UNAVAILABLE/],
    ['false_under_500', 500, /"valid":false/],
    ['empty', 200, /^$/],
    [{ kind: 'status', status: 429 }, 429, /^$/],
    [{ kind: 'status', status: 503, body: 'busy' }, 503, /^busy$/],
    [{ kind: 'status', status: 200, body: { valid: null } }, 200, /^{"valid":null}$/],
    ['quirky', 200, /\\u0000.*\\ud800.*"address":"---"/],
  ];
  test.each(SHAPES)('answers %j', async (answer, status, text) => {
    await put('/numbers/FR1', { answers: [answer] });
    expect(await post({ countryCode: 'FR', vatNumber: '1' })).toMatchObject({
      status,
      text: expect.stringMatching(text),
    });
  });

  test.each([
    [30, '30'],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ])('sends Retry-After: %j', async (retryAfter, header) => {
    await put('/answer', { kind: 'error', code: 'SERVICE_UNAVAILABLE', retry_after: retryAfter });
    const body = JSON.stringify({ countryCode: 'FR', vatNumber: '1' });
    const response = await fetch(`${sandbox.url}/check-vat-number`, { method: 'POST', body });
    expect([response.status, response.headers.get('retry-after')]).toEqual([200, header]);
    await response.text();
  });

  test('plays a sequence with one answer for each lookup, then repeats the last or returns to the default', async () => {
    const answers = ['invalid', { kind: 'valid', name: 'Second' }];
    await put('/numbers/FR1', { answers });
    // biome-ignore lint/suspicious/noThenProperty: a field of the control interface
    await put('/numbers/FR2', { answers, then: 'default' });
    const names = async (number: string) => {
      const names: unknown[] = [];
      for (let count = 0; count < 3; count += 1) names.push((await lookUp(number)).body.name);
      return names;
    };
    expect(await names('FR1')).toEqual(['---', 'Second', 'Second']);
    expect(await names('FR2')).toEqual(['---', 'Second', 'Sandbox Trader FR2']);
  });

  test('makes a member state unavailable and available again, while the others answer', async () => {
    await put('/states/IT', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
    expect((await lookUp('IT1')).body).toMatchObject({ actionSucceed: false });
    expect((await lookUp('FR1')).body).toMatchObject({ valid: true });
    await put('/states/IT', { answer: null });
    expect((await lookUp('IT1')).body).toMatchObject({ valid: true });
  });

  test('gives the same answer to all numbers, except those with their own script', async () => {
    await put('/answer', 'invalid');
    await put('/numbers/FR2', { answers: [{ kind: 'valid' }] });
    expect((await lookUp('FR1')).body.valid).toBe(false);
    expect((await lookUp('FR2')).body.valid).toBe(true);
    await put('/answer', null);
    expect((await lookUp('FR1')).body.valid).toBe(true);
  });

  test.each([
    ['/answer', { kind: 'htlm' }],
    ['/answer', { kind: 'html', latncy_ms: 1 }],
    ['/answer', { kind: 'html', retry_after: 'two\nlines' }],
    ['/numbers/FR1', { answers: 'html' }],
    ['/defaults', { latency_ms: -1 }],
  ])('refuses an invalid script: %s %j', async (path, body) => {
    expect(await control('PUT', path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
  });

  test('refuses an unknown control and an unknown member state', async () => {
    expect((await control('PUT', '/states/GB', {})).status).toBe(404);
    expect((await control('PUT', '/nothing', {})).status).toBe(404);
  });
});

describe('latency', () => {
  const timed = async (number: string) => {
    const started = performance.now();
    await lookUp(number);
    return performance.now() - started;
  };

  test('is that of the answer, else of the member state, else the default', async () => {
    await put('/defaults', { latency_ms: 60 });
    await put('/states/IT', { latency_ms: 150 });
    await put('/numbers/IT2', { answers: [{ kind: 'valid', latency_ms: 300 }] });
    // The fastest of three: a busy machine can delay an answer, but never make it faster.
    const rounds: number[][] = [];
    for (let n = 0; n < 3; n += 1) rounds.push(await Promise.all([timed('FR1'), timed('IT1'), timed('IT2')]));
    const [plain, state, answer] = [0, 1, 2].map((number) => Math.min(...rounds.map((round) => round[number] ?? 0)));
    expect(plain).toBeGreaterThan(55);
    expect(plain).toBeLessThan(140);
    expect(state).toBeGreaterThan(145);
    expect(state).toBeLessThan(290);
    expect(answer).toBeGreaterThan(295);
  });

  test('varies with the jitter', async () => {
    const jittery = await startViesSandbox({ random: () => 0.5, latencyMs: 20 });
    try {
      await fetch(`${jittery.url}/_control/defaults`, { method: 'PUT', body: '{"jitter_ms":200}' });
      const started = performance.now();
      await (
        await fetch(`${jittery.url}/check-vat-number`, { method: 'POST', body: '{"countryCode":"FR","vatNumber":"1"}' })
      ).text();
      expect(performance.now() - started).toBeGreaterThan(115);
    } finally {
      await jittery.close();
    }
  });
});

describe('saturation and statistics', () => {
  test('refuses the lookups of a member state over the limit, at once, and counts them', async () => {
    await put('/defaults', { latency_ms: 150, saturate_over: 2 });
    const answers = await Promise.all([...Array(5).keys()].map((n) => lookUp(`FR${n}`)).concat(lookUp('IT1')));
    const refused = answers.filter(({ body }) => body.errorWrappers?.[0].error === 'MS_MAX_CONCURRENT_REQ');
    expect(refused).toHaveLength(3);
    expect(answers.filter(({ body }) => body.valid)).toHaveLength(3);

    const { states, totals } = await stats();
    expect(states.FR).toMatchObject({ in_flight: 0, total: 5, answered: 5, aborted: 0 });
    expect(states.FR?.max_in_flight).toBeGreaterThanOrEqual(3);
    expect(states.IT).toEqual({ in_flight: 0, max_in_flight: 1, total: 1, answered: 1, aborted: 0 });
    expect(totals).toMatchObject({ total: 6, answered: 6 });
  });

  test('records each lookup in a journal, by number, from its start to its end', async () => {
    const before = Date.now();
    await put('/numbers/FR1', { answers: [{ kind: 'error', code: 'TIMEOUT' }, 'invalid'] });
    await lookUp('FR1');
    await lookUp('FR2');
    await lookUp('FR1');
    await until('all lookups to end', async () => (await journal()).every(({ finished_at }) => finished_at !== null));
    const entries = await journal('FR1');
    expect(entries.map(({ answer, code }) => [answer, code])).toEqual([
      ['error', 'TIMEOUT'],
      ['invalid', null],
    ]);
    expect(entries[0]).toMatchObject({
      member_state: 'FR',
      number: 'FR1',
      requester: null,
      trader: null,
      in_flight_at_start: 1,
    });
    const { at = 0, finished_at } = entries[0] ?? {};
    expect(at).toBeGreaterThan(before - 50);
    expect(finished_at).toBeGreaterThanOrEqual(at);
    expect(await journal()).toHaveLength(3);
  });

  test('a lookup is in flight until its client disconnects, and then counts as aborted', async () => {
    await put('/answer', 'hang');
    const sent = open('FR1');
    await until('the lookup to arrive', async () => (await stats()).totals.in_flight === 1);
    sent.destroy();
    await until('the lookup to end', async () => (await stats()).totals.in_flight === 0);
    expect((await stats()).states.FR).toEqual({ in_flight: 0, max_in_flight: 1, total: 1, answered: 0, aborted: 1 });
  });

  test('a reset clears scripts, journal and counters, but not the lookups in flight', async () => {
    await put('/answer', 'hang');
    const sent = open('FR1');
    await until('the lookup to arrive', async () => (await stats()).totals.in_flight === 1);
    await control('DELETE', '');
    expect((await stats()).totals).toEqual({ in_flight: 1, max_in_flight: 1, total: 0, answered: 0, aborted: 0 });
    expect(await journal()).toEqual([]);
    expect((await lookUp('FR1')).body.valid).toBe(true);
    sent.destroy();
    await until('the lookup to end', async () => (await stats()).totals.in_flight === 0);
  });
});

describe('malformed answers', () => {
  test('a drip sends one byte at a time', async () => {
    await put('/answer', 'drip');
    const [response] = await once(open('FR1'), 'response');
    const seen: string[] = [];
    response.on('error', () => undefined);
    response.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
    await until('two answers', () => seen.length >= 2);
    expect(seen.slice(0, 2)).toEqual(['{', '"']);
    response.destroy();
    await until('the lookup to end', async () => (await stats()).totals.in_flight === 0);
  });

  test('the client of this project reads none of them as a verdict', async () => {
    const client = createViesClient({ baseUrl: sandbox.url, attemptTimeoutMs: 400 });
    const outcomes: Record<string, LookupOutcome> = {};
    for (const kind of [
      'reset',
      'cut',
      'hang',
      'drip',
      'huge',
      'html',
      'half_json',
      'missing_valid',
      'valid_as_string',
      'empty',
      'vow_error',
      'false_with_error',
      'false_under_500',
      'quirky',
    ]) {
      await put('/answer', kind);
      const { outcome } = await client.lookUp({ memberState: 'FR', national: '1', requester: null, trader: null });
      outcomes[kind] = outcome;
    }
    await client.close();

    const { quirky, hang, drip, ...rest } = outcomes;
    expect(quirky).toMatchObject({ kind: 'verdict', valid: true, name: 'Quirky Trader & Sons', address: null });
    expect([hang, drip]).toEqual(Array(2).fill(expect.objectContaining({ kind: 'no_answer', outcome: 'timeout' })));
    expect(Object.keys(rest)).toHaveLength(11);
    for (const outcome of Object.values(rest))
      expect(outcome).toMatchObject({ kind: 'no_answer', outcome: 'unavailable' });
  });
});
