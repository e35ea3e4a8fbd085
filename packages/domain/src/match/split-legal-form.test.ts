import { spellingOf, wordsOf } from './fold-text.js';
import { LEGAL_FORMS } from './legal-form-table.js';
import { compareForms, splitLegalForm } from './split-legal-form.js';

const split = (name: string, memberState?: string) => {
  const { words, form } = splitLegalForm(wordsOf(name), memberState);
  return [words.map(spellingOf).join(' '), form];
};

test.each([
  ['Acme GmbH & Co. KG', 'acme', 'gmbh & co kg'],
  ['Acme UG (haftungsbeschränkt)', 'acme', 'ug'],
  ['SAS ACME', 'acme', 'sas'],
  ['Acme S.p.A. con socio unico', 'acme', 'spa'],
  ['Acme, S.L. (Sociedad Unipersonal)', 'acme', 'slu'],
  ['Acme spółka z ograniczoną odpowiedzialnością sp. k.', 'acme', 'spzoo spk'],
  ['Oy Acme Ab', 'acme', 'ab'],
  ['S.C. ACME S.R.L.', 'acme', 'srl'],
  ['АКМЕ - ЕООД', 'akme', 'eood'],
  ['Акционерно дружество АКМЕ', 'akme', 'ad'],
  ['ΑΚΜΕ Μονοπρόσωπη Ι.Κ.Ε.', 'akme', 'ike'],
  ['Acme Baugesellschaft m.b.H.', 'acme bau', 'gmbh'],
  ['Acme Ltd Belfast Branch', 'acme belfast branch', 'ltd'],
  ['Day Spa Ltd', 'day spa', 'ltd'],
  ['GmbH', 'gmbh', null],
  ['Acme', 'acme', null],
])('%s is %s with the form %s', (name, words, form) => {
  expect(split(name)).toEqual([words, form]);
});

test('short forms stand in front only in the states that write them there', () => {
  expect(split('AG Insurance NV', 'BE')).toEqual(['ag insurance', 'nv']);
  expect(split('AB Consulting', 'DE')).toEqual(['ab consulting', null]);
  expect(split('AB Volvo', 'SE')).toEqual(['volvo', 'ab']);
});

test('every spelling in the table is recognised behind a name', () => {
  const unknown = LEGAL_FORMS.flatMap(([, , spellings]) => spellings.split('|')).filter(
    (spelling) => splitLegalForm(wordsOf(`Acme Xyz ${spelling}`)).form === null,
  );
  expect(unknown).toEqual([]);
});

test.each([
  { one: 'bv', other: 'srl', state: 'BE', comparison: 'equal' },
  { one: 'bv', other: 'srl', state: 'NL', comparison: 'different' },
  { one: 'ood', other: 'ltd', state: 'BG', comparison: 'equal' },
  { one: 'doo', other: 'ltd', state: 'HR', comparison: 'different' },
  { one: 'eood', other: 'ood', state: 'BG', comparison: 'related' },
  { one: 'gmbh', other: null, state: 'DE', comparison: 'equal' },
  { one: 'gmbh', other: 'gmbh & co kg', state: 'DE', comparison: 'different' },
])('$one and $other in $state are $comparison', ({ one, other, state, comparison }) => {
  expect(compareForms(one, other, state)).toBe(comparison);
});
