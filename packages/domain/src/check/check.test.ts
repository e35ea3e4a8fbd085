import { type Answer, malformedAnswer, sandboxEntries } from '../index.js';
import { checkBody, publicCheck } from './check.js';
import type { CheckEntry } from './entry.js';

const ID = '0195f1e2-0000-7000-8000-000000000001';
const AT = new Date('2026-11-20T10:00:00.000Z');
const REQUEST: Parameters<typeof checkBody>[1] = {
  ...{ id: ID, test: false, vatNumber: 'CZ00006947', memberState: 'CZ', input: 'CZ00006947' },
  ...{ requester: null, reference: null, trader: null, entries: [] },
};
const ANSWER: Answer = {
  ...{ verdict: 'valid', name: 'Müller Bau GmbH', address: 'Letenská 525/15\n118 00 Praha 1' },
  ...{ consultationNumber: null, traderMatch: null, answeredAt: AT.toISOString() },
};
const entry = (change: Partial<CheckEntry>): CheckEntry => ({
  ...{ source: 'cz_ares', outcome: 'found', started_at: AT.toISOString(), duration_ms: 1 },
  ...change,
});
const bodyOf = (request: Partial<typeof REQUEST>, answer: Partial<Answer> = {}) =>
  checkBody(ID, { ...REQUEST, ...request }, { ...ANSWER, ...answer }, '0'.repeat(32));

test('without a trader there is no match, and the grade is that of the sources', () => {
  expect(bodyOf({})).toMatchObject({ trader: null, match: null, evidence_grade: 'named' });
  expect(bodyOf({}, { name: null, address: null })).toMatchObject({ match: null, evidence_grade: 'basic' });
  expect(bodyOf({ entries: [entry({ facts: { status: 'AKTIVNI' } })] }).evidence_grade).toBe('corroborated');
  expect(bodyOf({ entries: [entry({ contradicts: true })] }).evidence_grade).toBe('named');
});

test('each detail of the trader is compared with VIES and every register; the best text and its source are shown', () => {
  const entries = [
    entry({ source: 'vies', outcome: 'valid' }),
    entry({ facts: { name: 'MUELLER BAU SPOL. S R.O.', address: 'Nádražní 1, 110 00 Praha 1' } }),
    entry({ source: 'gleif', facts: { name: 'Müller Bau Praha s.r.o.' } }),
  ];
  const trader = { name: 'Müller Bau s.r.o.', street: 'Nadrazni 1', city: 'Prague' };
  const { match } = bodyOf({ trader, entries });
  expect(match).toEqual({
    score: 100,
    name: { score: 100, expected: 'Müller Bau s.r.o.', found: 'MUELLER BAU SPOL. S R.O.', source: 'cz_ares' },
    street: { score: 100, expected: 'Nadrazni 1', found: 'Nádražní 1', source: 'cz_ares' },
    postal_code: null,
    city: { score: 100, expected: 'Prague', found: 'Praha 1', source: 'vies' },
  });
});

test('a match with nothing to compare has no score', () => {
  const nothing = { score: null, name: null, street: null, postal_code: null, city: null };
  expect(bodyOf({ trader: { name: 'Acme' } }, { name: null, address: null }).match).toEqual(nothing);
  expect(bodyOf({ trader: { company_type: 'ES-1' } }).match).toEqual(nothing);
  expect(bodyOf({ trader: {} }).match).toEqual(nothing);
});

test('an invalid or malformed number has the grade none, with or without a trader', () => {
  const trader = { name: 'Acme' };
  expect(bodyOf({ trader }, { verdict: 'invalid', name: null, address: null })).toMatchObject({
    match: { score: null },
    evidence_grade: 'none',
  });
  expect(bodyOf({}, malformedAnswer(AT))).toMatchObject({ match: null, evidence_grade: 'none' });
});

test('a consultation number qualifies the check only while every detail agrees', () => {
  const consulted = { consultationNumber: 'WAPIAAA' };
  const requester = 'DE123456788';
  expect(bodyOf({ requester }, consulted).evidence_grade).toBe('qualified');
  expect(bodyOf({ requester, trader: { name: 'Mueller Bau' } }, consulted).evidence_grade).toBe('qualified');
  expect(bodyOf({ requester, trader: { name: 'Kern Holding' } }, consulted).evidence_grade).toBe('named');
  expect(bodyOf({ requester, trader: { name: 'Müller Bau', city: 'Brno' } }, consulted).evidence_grade).toBe('named');
});

test('the API shows the fields of a match in reading order, and a check from before these fields as it was hashed', () => {
  const body = bodyOf({ trader: { name: 'Müller Bau', city: 'Praha' } });
  const sorted = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sorted(value[key as keyof typeof value])]),
        );
  const served = (stored: object) =>
    publicCheck({ bytes: Buffer.from(JSON.stringify(sorted(stored))), hash: new Uint8Array(32) });
  const { match } = served(body);
  expect(Object.keys(match ?? {})).toEqual(['score', 'name', 'street', 'postal_code', 'city']);
  expect(Object.keys(match?.name ?? {})).toEqual(['score', 'expected', 'found', 'source']);
  expect(served(body)).toMatchObject(body);

  const { trader: _trader, match: _match, evidence_grade: _grade, ...earlier } = body;
  const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...shown } = served(earlier);
  expect(shown).toEqual(earlier);
});

describe('the sandbox', () => {
  const sandboxCheck = (vatNumber: string, more: Partial<typeof REQUEST> = {}, answer: Partial<Answer> = {}) => {
    const memberState = vatNumber.slice(0, 2) as 'PL';
    const request = { ...REQUEST, test: true, vatNumber, memberState, national: vatNumber.slice(2), ...more };
    const whole = { ...ANSWER, name: 'Sandbox Trader', address: '1 Sandbox Street\n1000 Testville', ...answer };
    return checkBody(ID, { ...request, entries: sandboxEntries(request, whole) }, whole, '0'.repeat(32));
  };

  test.each(['PL102', 'CZ102', 'RO102', 'FR102', 'FI102'])('%s is listed in the national register', (number) => {
    expect(sandboxCheck(number)).toMatchObject({
      evidence_grade: 'corroborated',
      checks: [{ outcome: 'found', facts: { name: 'Sandbox Trader', register_id: `SANDBOX-${number}` } }],
    });
  });

  test('103 is contradicted by the register, and no other number has facts', () => {
    const { checks, evidence_grade } = sandboxCheck('PL103');
    expect(checks).toMatchObject([{ source: 'pl_white_list', contradicts: true, facts: { receipt: 'SANDBOX-PL103' } }]);
    expect(evidence_grade).toBe('named');
    for (const number of ['PL100', 'PL101', 'DE102', 'DE103']) expect(sandboxCheck(number).checks).toEqual([]);
    expect(sandboxCheck('PL102', {}, { verdict: 'invalid' }).checks).toEqual([]);
    expect(sandboxCheck('PL102', { test: false }).checks).toEqual([]);
  });

  test('eVatR confirms 102 to a German requester, by details when name and city are given', () => {
    const requester = 'DE123456788';
    const [simple] = sandboxCheck('AT102', { requester }).checks;
    expect(simple).toMatchObject({ source: 'de_evatr', outcome: 'found', facts: { receipt: 'SANDBOX-AT102' } });
    expect(simple?.facts).not.toHaveProperty('matches');
    const trader = { name: 'Sandbox Trader', city: 'Wien', street: 'Sandbox Street 1' };
    const qualified = sandboxCheck('AT102', { requester, trader });
    expect(qualified.checks[0]?.facts?.matches).toEqual({ name: 'A', street: 'A', postal_code: 'C', city: 'B' });
    expect(qualified.evidence_grade).toBe('named');
    const agreeing = { ...trader, city: 'Testville' };
    expect(sandboxCheck('AT102', { requester, trader: agreeing }).evidence_grade).toBe('qualified');
    expect(sandboxCheck('AT102', { requester: 'FR40303265045' }).checks).toEqual([]);
    expect(sandboxCheck('DE102', { requester }).checks).toEqual([]);
  });
});
