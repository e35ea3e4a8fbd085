import { startWorld, type TestAccount, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
let poor: TestAccount;
let caller: () => ReturnType<World['http']>;
beforeAll(async () => {
  world = await startWorld();
  poor = await world.newAccount({ quota: '0' });
  caller = await crowd(world, world.account.account_id);
});
afterAll(() => world?.stop());

const check = (body: object) => caller().post('/v1/checks', body);

test.each([
  ['DE12345678', 'DE12345678'],
  ['DE 1234-5678', 'DE12345678'],
  ['IT1', 'IT1'],
  ['PL123456789A', 'PL123456789A'],
])('%s is malformed: answered immediately, without a lookup or a unit', async (input, vatNumber) => {
  const { status, body } = await check({ vat_number: input });
  expect(status).toBe(201);
  expect(body).toMatchObject({ input, vat_number: vatNumber, valid: false, verdict: 'malformed', name: null });
  expect(body.checks).toHaveLength(1);
  expect(body.checks[0]).toMatchObject({ source: 'syntax', outcome: 'malformed', detail: expect.any(String) });
  expect((await caller().get(`/v1/checks/${body.id}`)).body).toEqual(body);
  const request = await caller().get(`/v1/requests/${body.request_id}`);
  expect(request.body).toMatchObject({ status: 'completed', accepted_at: null, attempts: 0, check: { id: body.id } });
  expect(await world.vies.journal()).toEqual([]);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 0, reserved: 0 });
});

test('a malformed number is answered when the quota is used up, where a well-formed one is refused', async () => {
  const http = world.http(poor.live_key);
  const malformed = await http.post('/v1/checks', { vat_number: 'DE1' });
  expect([malformed.status, malformed.body.verdict]).toEqual([201, 'malformed']);
  const refused = await http.post('/v1/checks', { vat_number: 'DE136695976' });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
});

test('a malformed number is answered while the upstream is down', async () => {
  await world.vies.answerAll('reset');
  const { status, body } = await check({ vat_number: 'ATU1' });
  await world.vies.answerAll(null);
  expect([status, body.verdict]).toEqual([201, 'malformed']);
});

test('a wrong checksum is recorded, and the upstream decides', async () => {
  const { status, body } = await check({ vat_number: 'DE136695970' });
  expect([status, body.verdict]).toEqual([201, 'valid']);
  expect(body.checks[0]).toMatchObject({
    source: 'syntax',
    outcome: 'valid',
    detail: expect.stringMatching(/checksum/i),
  });
});

test.each([
  [{ vat_number: 'GR094259216' }, 'EL094259216', 'EL'],
  [{ vat_number: 'EL 094 259 216' }, 'EL094259216', 'EL'],
  [{ vat_number: '094259216', country_code: 'GR' }, 'EL094259216', 'EL'],
  [{ vat_number: '94259216', country_code: 'el' }, 'EL094259216', 'EL'],
  [{ vat_number: 'XI 123 456 789' }, 'XI123456789', 'XI'],
  [{ vat_number: 'de-136.695/976' }, 'DE136695976', 'DE'],
  [{ vat_number: 'DE136695976', country_code: 'DE' }, 'DE136695976', 'DE'],
  [{ vat_number: '１３６６９５９７６', country_code: 'DE' }, 'DE136695976', 'DE'],
  [{ vat_number: 'BE428759497' }, 'BE0428759497', 'BE'],
  [{ vat_number: 'DE\u200b136\u00a0695\u2011976\u0000\u007f\ud800' }, 'DE136695976', 'DE'],
])('%j is read as %s', async (body, vatNumber, country) => {
  const answer = await check(body);
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ vat_number: vatNumber, country_code: country, valid: true });
});

test.each([
  [{ vat_number: '136695976' }, 'vat_number'],
  [{ vat_number: 'GB123456789' }, 'vat_number'],
  [{ vat_number: 'EU372000063' }, 'vat_number'],
  [{ vat_number: 'CHE123456789' }, 'vat_number'],
  [{ vat_number: 'ZZ123' }, 'vat_number'],
  [{ vat_number: ' - ' }, 'vat_number'],
  [{ vat_number: '123456789', country_code: 'GB' }, 'country_code'],
  [{ vat_number: '123456789', country_code: 'EU' }, 'country_code'],
  [{ vat_number: '123456789', country_code: 'CH' }, 'country_code'],
  [{ vat_number: '123456789', country_code: '??' }, 'country_code'],
  [{ vat_number: 'DE136695976', country_code: 'AT' }, 'country_code'],
])('%j belongs to no covered country: BAD_REQUEST that names the field', async (body, field) => {
  const answer = await check(body);
  expect([answer.status, answer.body.error?.code]).toEqual([400, 'BAD_REQUEST']);
  expect(answer.body.error.fields).toEqual([{ path: field, message: expect.any(String) }]);
});

test('the input is stored unchanged, whatever it contains', async () => {
  const stored = await check({ vat_number: '  de.12\t3 "é" €\u{1F600} ', reference: 'Ünïcode 😀' });
  expect(stored.status).toBe(201);
  expect(stored.body).toMatchObject({
    input: '  de.12\t3 "é" €\u{1F600} ',
    reference: 'Ünïcode 😀',
    verdict: 'malformed',
  });
  const edged = await check({ vat_number: 'DE12\ud800\u007f3' });
  expect([edged.status, edged.body.input]).toEqual([201, 'DE123']);
});
