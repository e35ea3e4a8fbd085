import { readBatchFile } from './index.js';

const read = (text: string) => readBatchFile(Buffer.from(text));
const candidatesOf = (text: string): string[] => {
  const { rows, columns } = read(text);
  return rows.map(({ cells }) => cells[columns.candidate] ?? '');
};

test.each([
  ['decimal commas', 'DE136695976\t12,50\nFR83404833048\t7,00\n'],
  ['decimal commas and a country', 'DE\t136695976\t12,50\nFR\t83404833048\t7,00\n'],
  ['semicolons in texts', 'DE136695976\tA;B\nFR83404833048\tC;D\n'],
])('a file separated by tabs with %s is split at its tabs', (_what, text) => {
  const numbers = ['136695976', '83404833048'];
  expect(candidatesOf(text).map((cell) => cell.replace(/^[A-Z]{2}/, ''))).toEqual(numbers);
});

test.each([
  ['rates under VAT', 'Kunde;Land;Nummer;VAT\nA;DE;136695976;19\nB;FR;83404833048;20\n'],
  ['amounts under VAT', 'Kunde;Land;Nummer;VAT\nA;DE;136695976;1234,56\nB;FR;83404833048;99999,20\n'],
  ['codes of customers', 'Code;Land;Nummer\nDE10001;DE;136695976\nFR10002;FR;83404833048\n'],
  ['a price with a currency', 'Preis;Land;Nummer\nSEK 10001;DE;136695976\n5;FR;83404833048\n'],
])('numbers that their country completes are found beside %s', (_what, text) => {
  expect(candidatesOf(text)).toEqual(['136695976', '83404833048']);
});

test('numbers with a mistake stay those of their column, beside telephone numbers', () => {
  expect(candidatesOf('VAT;Land;Telefon\n13669597;DE;301234567\n')).toEqual(['13669597']);
  expect(candidatesOf('DE13669597;DE;301234567\n')).toEqual(['DE13669597']);
});

test.each(['13.07.2026', '2026-07-13', '13/07/2026', '13-07-26', '13.07.2026 10:00'])(
  'the date %s is not taken for a number that its country completes',
  (date) => {
    const text = `Datum;Land;Nummer\n${date};HU;09791266\n${date};CZ;25123891\n${date};IT;00743110157\n`;
    expect(candidatesOf(text)).toEqual(['09791266', '25123891', '00743110157']);
  },
);
