import { readFileSync } from 'node:fs';
import { MEMBER_STATES } from '../member-states.js';
import { readVatNumber } from './read-vat-number.js';

/**
 * Numbers of the covered states that the test suites of python-stdnum (006192e), valvat (5802c02) and jsvat (65108f8) call
 * valid, spelt as they are there; `country_code` where a suite gives the number without its prefix.
 */
const [, ...rows] = readFileSync(new URL('peer-numbers.csv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split(','));

/** The ones that are malformed here all the same, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  '1630615123457': 'a Romanian personal code (CNP), which is no VAT number: those have 2 to 10 digits',
  'RO 1630615123457': 'the same',
  IE1234567XX: 'valvat checks no more than the shape here: the Irish check letter is one of A to W',
};

test('no number that a peer accepts is malformed here, except the listed ones', () => {
  const refused = rows.filter(
    ([vatNumber = '', countryCode]) => readVatNumber(vatNumber, countryCode).kind !== 'well_formed',
  );
  expect(refused.map(([vatNumber]) => vatNumber).sort()).toEqual(Object.keys(EXCEPTIONS).sort());
});

test('the list has numbers of every covered state', () => {
  const states = rows.map(([vatNumber = '', countryCode]) => {
    const read = readVatNumber(vatNumber, countryCode);
    return read.kind === 'unresolvable' ? '' : read.memberState;
  });
  expect([...new Set(states)].sort()).toEqual([...MEMBER_STATES].sort());
  expect(rows.length).toBeGreaterThan(2_000);
});
