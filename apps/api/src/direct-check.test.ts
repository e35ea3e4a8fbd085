import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { checkSchema } from '@vat/contracts';
import { uuidOf } from '@vat/domain';
import { type LocalServer, openHttpServer, startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

/** The answers of the registers; ARES answers that its number has no VAT registration. */
const askRegister = ({ url = '' }: IncomingMessage): { status: number; body: unknown } => {
  if (url.includes('/ekonomicke-subjekty/'))
    return {
      status: 200,
      body: {
        ico: '00006947',
        obchodniJmeno: 'Ministerstvo financí',
        seznamRegistraci: { stavZdrojeDph: 'NEEXISTUJICI' },
      },
    };
  if (url.includes('/api/search/nips/5260250274'))
    return {
      status: 200,
      body: {
        result: { requestId: 'aa1', entries: [{ identifier: '5260250274', subjects: [{ statusVat: 'Czynny' }] }] },
      },
    };
  if (url === '/app/v1/abfrage')
    return {
      status: 200,
      body: {
        ...{ id: 'c4e5', status: 'evatr-0000' },
        ...{ ergFirmenname: 'A', ergStrasse: 'C', ergPlz: 'C', ergOrt: 'B' },
      },
    };
  return { status: 404, body: {} };
};

let world: World;
let caller: () => ReturnType<World['http']>;
let registers: LocalServer;
beforeAll(async () => {
  registers = await openHttpServer((request, response) => {
    const { status, body } = askRegister(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const { url } = registers;
  world = await startWorld({
    settings: {
      ENRICHMENT_SOURCES: 'cz_ares,pl_white_list,de_evatr',
      ENRICHMENT_CZ_ARES_URL: url,
      ENRICHMENT_PL_WHITE_LIST_URL: url,
      ENRICHMENT_DE_EVATR_URL: url,
      ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES: '1',
      CONTACT_URL: 'https://vat.example.com/contact',
    },
  });
  caller = await crowd(world, world.account.account_id);
});
afterAll(async () => {
  await world?.stop();
  await registers?.close();
});

type Entry = { source: string; outcome: string; code?: string; attempts?: number; detail?: string; facts?: object };

const check = (body: object) => caller().post('/v1/checks', body);
const outcomes = (body: { checks: Entry[] }) => body.checks.map((entry) => [entry.source, entry.outcome]);
const askedFor = async (vatNumber: string) => (await world.vies.journal(vatNumber)).length;
const ended = (requestId: string) =>
  until(`${requestId} to end`, async () => {
    const { body } = await caller().get(`/v1/requests/${requestId}`);
    return body.status !== 'pending' && body;
  });

test('a number that VIES calls valid is answered 201 with its check', async () => {
  const { status, body, headers } = await check({ vat_number: 'FR 40 303 265 045', reference: 'order 7' });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    object: 'check',
    vat_number: 'FR40303265045',
    country_code: 'FR',
    input: 'FR 40 303 265 045',
    valid: true,
    verdict: 'valid',
    reference: 'order 7',
    requester_vat_number: null,
    consultation_number: null,
    trader_match: null,
    trader: null,
    match: null,
    evidence_grade: 'named',
    timestamp: null,
    anchor: null,
    hash_profile: 'jcs-sha256-v1',
  });
  expect(body.id).toMatch(/^chk_[0-9a-z]{26}$/);
  expect(body.request_id).toMatch(/^req_[0-9a-z]{26}$/);
  expect(body.checked_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(body).not.toHaveProperty('test');
  expect(outcomes(body)).toEqual([
    ['syntax', 'valid'],
    ['vies', 'valid'],
  ]);
  expect(headers.location).toBe(`${world.baseUrl()}/v1/checks/${body.id}`);
  const again = await caller().get(`/v1/checks/${body.id}`).expect(200);
  expect(again.body).toEqual(body);
});

test('the hash is that of the evidence bytes', async () => {
  const { body } = await check({ vat_number: 'ATU12345675', reference: 'Grüße €\u{1F600}' });
  const evidence = await caller().get(`/v1/checks/${body.id}/evidence`).responseType('blob');
  expect(`sha256:${createHash('sha256').update(evidence.body).digest('hex')}`).toBe(body.response_hash);
  const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...hashed } = body;
  expect(JSON.parse(evidence.body.toString())).toEqual(hashed);
});

test('verdicts are not cached: each check of the same number makes a lookup and has its own salt', async () => {
  const [first, second] = [
    await check({ vat_number: 'NL123456789B01' }),
    await check({ vat_number: 'NL123456789B01' }),
  ];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(await askedFor('NL123456789B01')).toBe(2);
  expect(second.body.salt).not.toBe(first.body.salt);
  expect(second.body.response_hash).not.toBe(first.body.response_hash);
});

test('an invalid answer is confirmed by a second lookup before it is recorded', async () => {
  await world.vies.script('DE111111111', ['invalid']);
  const { status, body } = await check({ vat_number: 'DE111111111' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ valid: false, verdict: 'invalid', name: null, address: null });
  expect(outcomes(body)).toEqual([
    ['syntax', 'valid'],
    ['vies', 'invalid'],
    ['vies_confirmation', 'invalid'],
  ]);
  expect(await askedFor('DE111111111')).toBe(2);
});

test('invalid and then valid is answered 202, and not recorded before two answers in a row agree', async () => {
  await world.vies.script('DE222222222', ['invalid', 'valid', 'invalid', 'valid', 'valid']);
  const { status, body } = await check({ vat_number: 'DE222222222' });
  expect(status).toBe(202);
  expect(outcomes(body)).toEqual([
    ['syntax', 'valid'],
    ['vies', 'invalid'],
    ['vies_confirmation', 'valid'],
  ]);
  expect(body.checks[2].detail).toMatch(/disagree/i);
  const { status: end, check: recorded } = await ended(body.request_id);
  expect(end).toBe('completed');
  expect(recorded).toMatchObject({ valid: true, verdict: 'valid' });
  expect(await askedFor('DE222222222')).toBe(5);
});

test('an invalid answer whose confirmation gets no answer is answered 202 and confirmed later', async () => {
  await world.vies.script('DE333333333', ['invalid', { kind: 'error', code: 'MS_UNAVAILABLE' }]);
  const { status, body } = await check({ vat_number: 'DE333333333' });
  expect(status).toBe(202);
  expect(outcomes(body)).toEqual([
    ['syntax', 'valid'],
    ['vies', 'invalid'],
    ['vies_confirmation', 'unavailable'],
  ]);
  await world.vies.script('DE333333333', ['invalid']);
  const { check: recorded } = await ended(body.request_id);
  expect(recorded).toMatchObject({ valid: false, verdict: 'invalid' });
  expect(outcomes(recorded)).toContainEqual(['vies_confirmation', 'invalid']);
});

test('an outage is answered 202 and finished in the background, once', async () => {
  await world.vies.script('DE123456788', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
  const accepted = await check({ vat_number: 'DE123456788' });
  expect(accepted.status).toBe(202);
  expect(accepted.body.poll_url).toBe(`${world.baseUrl()}/v1/requests/${accepted.body.request_id}`);
  expect(accepted.headers.location).toBe(accepted.body.poll_url);
  expect(Number(accepted.headers['retry-after'])).toBeGreaterThan(0);
  await world.vies.script('DE123456788', ['valid']);
  expect((await ended(accepted.body.request_id)).check.valid).toBe(true);
});

describe('a requester', () => {
  test('gets the consultation number', async () => {
    await world.vies.script('IE6433435F', [{ kind: 'valid', consultation: 'WAPIAAAAYNVbMx12' }]);
    const { body } = await check({ vat_number: 'IE6433435F', requester_vat_number: 'be 0428.759.497' });
    expect(body).toMatchObject({ requester_vat_number: 'BE0428759497', consultation_number: 'WAPIAAAAYNVbMx12' });
    expect((await world.vies.journal('IE6433435F')).map(({ requester }) => requester)).toEqual(['BE0428759497']);
  });

  test('with an ill-formed number is refused without a lookup', async () => {
    for (const requester of ['DE12', 'nonsense', 'GB123456789', 'CHE123', '', '\u0000', 'D'.repeat(41)]) {
      const { status, body } = await check({ vat_number: 'IE6433436G', requester_vat_number: requester });
      expect([requester, status, body.error?.code]).toEqual([requester, 400, 'INVALID_REQUESTER']);
    }
    expect(await askedFor('IE6433436G')).toBe(0);
  });

  test('that VIES refuses is INVALID_REQUESTER, without a check and without a unit', async () => {
    const before = (await caller().get('/v1/usage')).body;
    await world.vies.script('LU12345613', [{ kind: 'error', code: 'INVALID_REQUESTER_INFO' }]);
    const { status, body } = await check({ vat_number: 'LU12345613', requester_vat_number: 'BE0428759497' });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUESTER']);
    const { used, reserved } = (await caller().get('/v1/usage')).body;
    expect([used, reserved]).toEqual([before.used, before.reserved]);
    expect((await caller().get('/v1/checks?vat_number=LU12345613')).body.data).toEqual([]);
  });

  test('that VIES refuses in the background ends the request with the reason INVALID_REQUESTER', async () => {
    await world.vies.script('LU12345614', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
    const { status, body } = await check({ vat_number: 'LU12345614', requester_vat_number: 'BE0428759497' });
    expect(status).toBe(202);
    await world.vies.script('LU12345614', [{ kind: 'error', code: 'INVALID_REQUESTER_INFO' }]);
    expect(await ended(body.request_id)).toMatchObject({
      status: 'abandoned',
      reason: 'INVALID_REQUESTER',
      check: null,
    });
  });

  test('is omitted in another lookup after INVALID_INPUT, before the refusal is believed', async () => {
    await world.vies.script('SE556703748501', [{ kind: 'error', code: 'INVALID_INPUT' }, 'valid']);
    const { status, body } = await check({ vat_number: 'SE556703748501', requester_vat_number: 'BE0428759497' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ valid: true, requester_vat_number: 'BE0428759497', consultation_number: null });
    const asked = await world.vies.journal('SE556703748501');
    expect(asked.map(({ requester }) => requester)).toEqual(['BE0428759497', null]);
    expect(body.checks[1].detail).toMatch(/without requester number/);
  });

  test('makes the number malformed when INVALID_INPUT is answered twice without it too', async () => {
    await world.vies.script('SE556703748502', [{ kind: 'error', code: 'INVALID_INPUT' }]);
    const { status, body } = await check({ vat_number: 'SE556703748502', requester_vat_number: 'BE0428759497' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ valid: false, verdict: 'malformed' });
    expect(await askedFor('SE556703748502')).toBe(3);
  });

  test.each(['VOW-ERR-2500', 'VOW-ERR-2700'])('that VIES refuses as %s is INVALID_REQUESTER', async (code) => {
    await world.vies.script('LU12345615', [{ kind: 'error', code, form: 'message' }]);
    const { status, body } = await check({ vat_number: 'LU12345615', requester_vat_number: 'BE0428759497' });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUESTER']);
    expect(body.error.checks[1]).toMatchObject({ outcome: 'rejected', code });
  });
});

describe('trader details that VIES refuses with INVALID_INPUT', () => {
  const trader = { name: 'Acme', company_type: 'SE-1' };
  const requester_vat_number = 'BE0428759497';

  test('are omitted, with the requester, before a refusal of the number is believed', async () => {
    const vatNumber = 'SE556703748504';
    await world.vies.script(vatNumber, [{ kind: 'error', code: 'INVALID_INPUT', form: 'message' }, 'valid']);
    const { status, body } = await check({ vat_number: vatNumber, trader, requester_vat_number });
    expect([status, body.verdict]).toEqual([201, 'valid']);
    expect(body).toMatchObject({ consultation_number: null, trader_match: null });
    expect(body.checks[1]).toMatchObject({ source: 'vies', outcome: 'valid', attempts: 2 });
    expect(body.checks[1].detail).toMatch(/without requester number and trader details/);
    const lookups = await world.vies.journal(vatNumber);
    expect(lookups.map(({ requester, trader: sent }) => [requester, sent])).toEqual([
      [requester_vat_number, trader],
      [null, null],
    ]);
  });

  test.each([
    ['SE556703748505', 'INVALID_INPUT'],
    ['SE556703748506', 'VOW-ERR-2600'],
  ])('make no number malformed: %s is after %s twice for the number alone', async (vatNumber, code) => {
    await world.vies.script(vatNumber, [{ kind: 'error', code }]);
    const { status, body } = await check({ vat_number: vatNumber, trader });
    expect([status, body.verdict]).toEqual([201, 'malformed']);
    expect(body.checks.slice(1)).toMatchObject([
      { source: 'vies', outcome: 'malformed', code, attempts: 2 },
      { source: 'vies_confirmation', outcome: 'malformed', code, attempts: 1 },
    ]);
    const lookups = await world.vies.journal(vatNumber);
    expect(lookups.map(({ trader: sent }) => sent)).toEqual([trader, null, null]);
  });

  test('a company type that VIES does not know is not sent', async () => {
    for (const company_type of ['GmbH', 'ES-0', 'ES-100', 'es-1', 'ES-01', 'ES1', ' ES-1', '']) {
      const { status, body } = await check({ vat_number: 'SE556703748507', trader: { company_type } });
      expect([company_type, status, body.error?.code]).toEqual([company_type, 400, 'BAD_REQUEST']);
      expect(body.error.fields).toEqual([{ path: 'trader.company_type', message: expect.stringContaining('ES-1') }]);
    }
    for (const company_type of ['ES-1', 'DE-99']) {
      const { body } = await check({ vat_number: 'SE556703748507', trader: { company_type } });
      expect(body.trader_match.company_type).toBe('valid');
    }
  });
});

test('INVALID_INPUT without a requester is malformed once it was answered twice, and consumes no unit', async () => {
  const before = (await caller().get('/v1/usage')).body.used;
  await world.vies.script('SE556703748503', [{ kind: 'error', code: 'INVALID_INPUT' }]);
  const { status, body } = await check({ vat_number: 'SE556703748503' });
  expect([status, body.verdict, body.valid]).toEqual([201, 'malformed', false]);
  expect(await askedFor('SE556703748503')).toBe(2);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: before, reserved: 0 });
});

test('a trader is matched field by field, and fields that VIES does not answer stay absent', async () => {
  const trader = { name: 'Acme', street: 'wrong street', postal_code: '1000', city: 'Testville' };
  const { status, body } = await check({ vat_number: 'FI20774740', trader });
  expect(status).toBe(201);
  expect(body.trader_match).toMatchObject({ name: 'valid', street: 'invalid', postal_code: 'valid', city: 'valid' });
  expect(['not_processed', null]).toContain(body.trader_match.company_type);
  expect((await world.vies.journal('FI20774740'))[0]?.trader).toEqual(trader);
  expect(body.trader).toEqual(trader);
});

test('what VIES does not disclose is null', async () => {
  await world.vies.script('PT502757191', [{ kind: 'valid', name: '---', address: '---' }]);
  const { body } = await check({ vat_number: 'PT502757191' });
  expect(body).toMatchObject({ valid: true, name: null, address: null, consultation_number: null });
});

test('control characters and lone surrogates from VIES are removed, and the rest stays', async () => {
  await world.vies.script('PT502757192', ['quirky']);
  const { status, body } = await check({ vat_number: 'PT502757192' });
  expect(status).toBe(201);
  expect(body.name).toBe('Quirky Trader & Sons');
  expect(body.address).toBeNull();
});

describe('a register', () => {
  const entryOf = (body: { checks: Entry[] }, source: string) => body.checks.find((entry) => entry.source === source);
  const expectHashed = async (body: { id: string; response_hash: string }) => {
    const { text } = await caller().get(`/v1/checks/${body.id}/evidence`).expect(200);
    expect(`sha256:${createHash('sha256').update(text).digest('hex')}`).toBe(body.response_hash);
    const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...hashed } = body as Record<string, unknown>;
    expect(JSON.parse(text)).toEqual(hashed);
    expect(checkSchema.parse(body)).toEqual(body);
    // Like checks that were recorded before facts, traders, matches and grades existed.
    const { trader: _trader, match: _match, evidence_grade: _grade, ...earlier } = body as Record<string, unknown>;
    expect(checkSchema.safeParse(earlier).success).toBe(true);
    // No check has a match without a grade, or without its trader.
    for (const lost of ['trader', 'match', 'evidence_grade'])
      expect(checkSchema.safeParse({ ...body, [lost]: undefined }).success).toBe(false);
  };

  test('that contradicts VIES does not change the verdict; its statement is part of the hash', async () => {
    const { body } = await check({ vat_number: 'CZ00006947' });
    expect(body).toMatchObject({ valid: true, verdict: 'valid' });
    expect(entryOf(body, 'cz_ares')).toMatchObject({
      outcome: 'found',
      facts: { name: 'Ministerstvo financí', status: 'NEEXISTUJICI', register_id: '00006947' },
      contradicts: true,
    });
    await expectHashed(body);
  });

  test("compares the trader: a German requester's qualified confirmation", async () => {
    const trader = { name: 'Musterhaus GmbH', city: 'Wien' };
    const body = { vat_number: 'ATU12345675', requester_vat_number: 'DE123456788', trader };
    const { body: made } = await check(body);
    expect(entryOf(made, 'de_evatr')?.facts).toEqual({
      status: 'evatr-0000',
      receipt: 'c4e5',
      matches: { name: 'A', street: 'C', postal_code: 'C', city: 'B' },
    });
    expect(made.trader).toEqual(trader);
    // VIES issued a consultation number, but eVatR and our comparison say that the city differs.
    expect(made.match.city).toMatchObject({ expected: 'Wien', source: 'vies' });
    await expectHashed(made);
  });

  test('whose daily limit is reached is skipped with a reason, and the check does not wait for it', async () => {
    const { body: first } = await check({ vat_number: 'PL5260250274' });
    expect(entryOf(first, 'pl_white_list')).toMatchObject({ outcome: 'found', facts: { receipt: 'aa1' } });
    const { body: second } = await check({ vat_number: 'PL5260250274' });
    expect(entryOf(second, 'pl_white_list')).toMatchObject({ outcome: 'skipped', code: 'DAILY_SEARCHES_USED' });
    expect(second.valid).toBe(true);
    await expectHashed(second);
  });

  test('and VIES receive the contact address', async () => {
    const { body } = await check({ vat_number: 'CZ00006947' });
    const sent = await world.sql<{ agent: string; source: string }>(
      `SELECT source, request_headers ->> 'user-agent' AS agent FROM exchange WHERE request_id = $1 ORDER BY source`,
      [uuidOf('request', body.request_id)],
    );
    const agent = 'vat-validation-service (+https://vat.example.com/contact)';
    expect(sent).toEqual([
      { source: 'cz_ares', agent },
      { source: 'vies', agent },
    ]);
  });
});
