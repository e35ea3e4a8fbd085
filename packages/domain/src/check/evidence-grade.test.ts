import type { CheckEntry } from '../check/entry.js';
import { ENRICHMENT_SOURCES } from '../check-sources.js';
import type { PartScore, TraderScore } from '../match/match-trader.js';
import type { TraderMatch } from '../trader.js';
import { type GradedCheck, gradeEvidence } from './evidence-grade.js';

const CHECK: GradedCheck = {
  valid: true,
  name: null,
  address: null,
  requester_vat_number: null,
  consultation_number: null,
  trader: null,
  trader_match: null,
  match: null,
  checks: [{ source: 'vies', outcome: 'valid' }],
};
const grade = (change: Partial<GradedCheck>) => gradeEvidence({ ...CHECK, ...change });

const NAMED = { name: 'Acme GmbH', address: 'Hauptstraße 5\n10115 Berlin' };
const CONSULTED = { requester_vat_number: 'DE123456788', consultation_number: 'WAPIAAA' };
const register = (change: Partial<CheckEntry>): Pick<CheckEntry, 'source' | 'outcome' | 'facts' | 'contradicts'> => ({
  source: 'cz_ares',
  outcome: 'found',
  facts: { status: 'AKTIVNI' },
  ...change,
});
const EVATR = register({ source: 'de_evatr', facts: { receipt: 'c4e53ec694b7c2a6' } });
const part = (score: number): PartScore => ({ score, expected: 'x', found: 'y', source: 'vies' });
const score = (parts: Partial<TraderScore>): TraderScore => ({
  ...{ score: 0, name: null, street: null, postal_code: null, city: null },
  ...parts,
});
const matched = (match: Partial<TraderMatch>): TraderMatch => ({
  ...{ name: null, street: null, postal_code: null, city: null, company_type: null },
  ...match,
});
const TRADER = { name: 'Acme', city: 'Berlin' };

test('a number that is not valid has no evidence', () => {
  expect(grade({ ...NAMED, ...CONSULTED, valid: false, checks: [register({})] })).toBe('none');
});

test('VIES alone is basic, with a name and no address too', () => {
  expect(grade({})).toBe('basic');
  expect(grade({ name: 'Acme GmbH' })).toBe('basic');
  expect(grade({ consultation_number: 'WAPIAAA' })).toBe('basic');
});

test('a source with name and address makes it named', () => {
  expect(grade(NAMED)).toBe('named');
  const facts = { name: 'Acme GmbH', address: 'Hauptstraße 5, 10115 Berlin' };
  expect(grade({ checks: [register({ source: 'gleif', facts })] })).toBe('named');
  expect(grade({ name: 'Acme GmbH', checks: [register({ source: 'gleif', facts: { address: 'Berlin' } })] })).toBe(
    'basic',
  );
});

test('a national register that states the registration makes it corroborated; GLEIF and eVatR do not', () => {
  expect(grade({ checks: [register({})] })).toBe('corroborated');
  expect(grade({ checks: [register({ outcome: 'not_found' })] })).toBe('basic');
  expect(grade({ checks: [register({ facts: { status: 'AKTIVNI', registered_until: '2020-12-31' } })] })).toBe('basic');
  expect(grade({ checks: [register({ source: 'gleif' })] })).toBe('basic');
  expect(grade({ checks: [register({ source: 'de_evatr' })] })).toBe('basic');
});

const SINCE = { registered_since: '2001-02-03' };
const NUMBERS = { vat_numbers: ['FR83404833048'] };
const [CZECH, ROMANIAN] = [{ vat_numbers: ['CZ25123891'] }, { vat_numbers: ['RO14056826'] }];
const REGISTERED_IN_ROMANIA = 'INREGISTRAT din data 01.01.2006';
test.each([
  ['pl_white_list', 'corroborated', { status: 'Czynny' }],
  ['pl_white_list', 'basic', { register_id: '123456789', receipt: 'x', ...SINCE }],
  ['cz_ares', 'corroborated', CZECH],
  ['cz_ares', 'basic', { register_id: '25123891' }],
  ['cz_ares', 'basic', { status: 'SOMETHING_NEW' }],
  ['ro_anaf', 'corroborated', { status: REGISTERED_IN_ROMANIA, ...SINCE }],
  ['ro_anaf', 'corroborated', { status: REGISTERED_IN_ROMANIA, ...ROMANIAN }],
  ['ro_anaf', 'basic', { status: REGISTERED_IN_ROMANIA }],
  ['ro_anaf', 'basic', { status: 'RADIERE din data 01.01.2020', ...ROMANIAN }],
  ['ro_anaf', 'basic', { status: 'RADIERE din data 01.01.2020', ...SINCE }],
  ['ro_anaf', 'basic', { status: `${REGISTERED_IN_ROMANIA}; INACTIV`, ...SINCE }],
  ['fr_recherche_entreprises', 'corroborated', { status: 'A', ...NUMBERS }],
  ['fr_recherche_entreprises', 'basic', { status: 'C', ...NUMBERS }],
  ['fr_recherche_entreprises', 'basic', { status: 'A' }],
  ['fi_prh', 'corroborated', { status: 'VAT-liable for business activity', ...SINCE }],
  ['fi_prh', 'basic', { legal_form: 'Public limited company', register_id: '2077474-0' }],
] as const)('what %s must state: %s with %j', (source, expected, facts) => {
  expect(grade({ checks: [register({ source, facts: { ...facts } })] })).toBe(expected);
});

test('a register that states nothing does not corroborate', () => {
  for (const source of ENRICHMENT_SOURCES) {
    expect(grade({ checks: [{ source, outcome: 'found' }] })).toBe('basic');
    expect(grade({ checks: [register({ source, facts: { name: 'Acme' } })] })).toBe('basic');
  }
});

test('a consultation number for the requester, or an id of eVatR, makes it qualified when no detail was given', () => {
  expect(grade(CONSULTED)).toBe('qualified');
  expect(grade({ checks: [EVATR] })).toBe('qualified');
  expect(grade({ checks: [{ ...EVATR, outcome: 'rejected' }] })).toBe('basic');
});

test('every detail that was given must agree: VIES valid, eVatR A or a score of 90', () => {
  const given = { ...NAMED, ...CONSULTED, trader: TRADER };
  expect(grade(given)).toBe('named');
  expect(grade({ ...given, trader_match: matched({ name: 'valid', city: 'valid' }) })).toBe('qualified');
  expect(grade({ ...given, trader_match: matched({ name: 'valid', city: 'invalid' }) })).toBe('named');
  expect(grade({ ...given, match: score({ name: part(90), city: part(100) }) })).toBe('qualified');
  expect(grade({ ...given, match: score({ name: part(89), city: part(100) }) })).toBe('named');
  expect(grade({ ...given, trader_match: matched({ name: 'valid' }), match: score({ city: part(95) }) })).toBe(
    'qualified',
  );
  const matches = { name: 'A', street: 'C', postal_code: 'C', city: 'A' } as const;
  const evatr = register({ source: 'de_evatr', facts: { receipt: 'x', matches } });
  expect(grade({ trader: TRADER, checks: [evatr] })).toBe('qualified');
  const differs = register({ source: 'de_evatr', facts: { receipt: 'x', matches: { ...matches, city: 'B' } } });
  expect(grade({ trader: TRADER, checks: [differs, register({})] })).toBe('corroborated');
});

test('a company type that only VIES could compare stands in the way only when VIES says that it differs', () => {
  const given = { ...CONSULTED, trader: { company_type: 'ES-1' } };
  expect(grade({ ...given, trader_match: matched({ company_type: 'not_processed' }) })).toBe('qualified');
  expect(grade({ ...given, trader_match: matched({ company_type: 'invalid' }) })).toBe('basic');
});

test('a source that contradicts the verdict limits the grade to named', () => {
  const contradicting = register({ source: 'gleif', outcome: 'found', contradicts: true });
  expect(grade({ ...NAMED, ...CONSULTED, checks: [register({}), contradicting] })).toBe('named');
  expect(grade({ ...CONSULTED, checks: [register({ contradicts: true })] })).toBe('basic');
});
