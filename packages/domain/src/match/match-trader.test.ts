import { matchTrader, type StatedTrader } from './match-trader.js';

const VIES: StatedTrader = {
  source: 'vies',
  memberState: 'CZ',
  name: 'ČEZ, a. s.',
  address: 'Duhová 1444/2\nPRAHA 4 - MICHLE\n140 00  PRAHA 4',
};
const ARES: StatedTrader = {
  source: 'cz_ares',
  memberState: 'CZ',
  name: 'ČEZ a.s.',
  address: 'Duhová 1444/2, Michle, 14000 Praha 4',
};
const TRADER = { name: 'CEZ akciová společnost', street: 'Duhová 2', postal_code: '14000', city: 'Prague' };

test('scores each part against the source that agrees best, the first one among equals', () => {
  expect(matchTrader(TRADER, [VIES, ARES])).toEqual({
    score: 100,
    name: { score: 100, expected: 'CEZ akciová společnost', found: 'ČEZ, a. s.', source: 'vies' },
    street: { score: 100, expected: 'Duhová 2', found: 'Duhová 1444/2', source: 'vies' },
    postal_code: { score: 100, expected: '14000', found: '140 00', source: 'vies' },
    city: { score: 100, expected: 'Prague', found: 'PRAHA 4', source: 'vies' },
  });
  const other = { ...VIES, name: 'ČEZ Distribuce, a. s.' };
  expect(matchTrader(TRADER, [other, ARES])?.name).toMatchObject({ score: 100, source: 'cz_ares' });
});

test('is null without a trader', () => {
  expect(matchTrader(null, [VIES])).toBeNull();
});

test.each([
  { trader: TRADER, sources: [] },
  { trader: TRADER, sources: [{ source: 'vies' as const, memberState: 'DE', name: '---', address: '---' }] },
  { trader: {}, sources: [VIES] },
  { trader: { company_type: 'ES-1' }, sources: [VIES] },
])('has no score where nothing can be compared: $trader, $sources', ({ trader, sources }) => {
  expect(matchTrader(trader, sources)).toEqual({
    score: null,
    name: null,
    street: null,
    postal_code: null,
    city: null,
  });
});

test('the form of a Bulgarian sole trader counts nowhere, in front or behind, in either script', () => {
  const stated: StatedTrader = { source: 'vies', memberState: 'BG', name: 'ЕТ ИВАН ПЕТРОВ' };
  expect(matchTrader({ name: 'Ivan Petrov ET' }, [stated])?.score).toBe(100);
});

test('parts that a source states separately win over its address', () => {
  const stated = { ...VIES, street: 'Vodičkova 1', city: null };
  expect(matchTrader(TRADER, [stated])).toMatchObject({ street: { found: 'Vodičkova 1' }, city: { found: 'PRAHA 4' } });
});

test('another company at the same address does not agree', () => {
  const match = matchTrader({ ...TRADER, name: 'ČEZ Distribuce a.s.' }, [VIES]);
  expect(match?.street?.score).toBe(100);
  expect(match?.score).toBeLessThan(70);
});

test('the right name at another address lowers the whole score', () => {
  const match = matchTrader({ ...TRADER, street: 'Vodičkova 1', postal_code: '11000', city: 'Brno' }, [VIES]);
  expect(match?.name?.score).toBe(100);
  expect(match?.score).toBeLessThan(70);
});

// The examples that Fonoa prints in its public documentation of fuzzy matching, with its own scores.
test('reaches the scores of published examples', () => {
  const named = matchTrader({ name: 'Fonoa Technologies' }, [
    { source: 'vies', memberState: 'IE', name: 'FONOA TECHNOLOGIES LIMITED' },
  ]);
  expect(named?.score).toBe(100);
  const stated: StatedTrader = {
    source: 'vies',
    memberState: 'XI',
    address: 'UNIT 5, 12 WILDFLOWER WAY, BELFAST, BT12 6TA',
  };
  expect(matchTrader({ street: '12 Wildflower way', city: 'Belfast' }, [stated])?.score).toBe(100);
  expect(matchTrader({ street: '12 Wildflower way Belfast' }, [stated])?.score).toBeGreaterThanOrEqual(76);
});

test.each([
  ['DE', `${'a'.repeat(499)}\u{20BB7} 1, 10115 Berlin`],
  ['RO', 'MUN.\u{1D165} SIBIU\nSTR. LUNGA 1'],
])('what is found can be hashed, wherever an address of %s is cut', (memberState, address) => {
  const match = matchTrader({ street: 'x', city: 'x' }, [{ source: 'vies', memberState, address }]);
  for (const part of [match?.street, match?.city]) expect(part?.found.isWellFormed() ?? true).toBe(true);
});
