import { readCoverageFile } from './read-coverage-file.js';
import { refuse } from './refuse.fixture.js';

const read = (text: string) => readCoverageFile(new TextEncoder().encode(text));
const codeOf = (text: string) => {
  const { code, message } = refuse(() => read(text));
  return [code, message];
};

test.each([
  ['vat_number;supply_date', 1],
  ['Leistungsdatum;USt-IdNr', 0],
  ['N° TVA;Date de livraison;Montant', 1],
  ['Rechnungsdatum;Lieferdatum;USt-IdNr', 1],
  ['Rechnungsdatum;Lieferungsdatum;USt-IdNr', 1],
  ['Data fattura;Data della fornitura;VAT number', 1],
  ['Дата на фактура;Дата на доставката;VAT number', 1],
  ['Datum;Rechnungsdatum;USt-IdNr', 1],
  ['Buchungsdatum;Belegdatum;USt-IdNr', 1],
  ['VAT Registration No.;Posting Date;VAT Date;Document Date', 2],
  ['USt-Id.Nr.;Belegdatum;Buch.dat.;Leist.Dat', 3],
  ['Datum;Posting date;VAT number', 1],
  ['NIP;Data sprzedaży', 1],
  ['Adószám;Teljesítés dátuma', 1],
  ['ΑΦΜ/VAT;Ημερομηνία', 1],
  ['Rechnungsdatum;Lieferdatum (TT.MM.JJJJ);USt-IdNr', 1],
  ['Lieferdatum (geplant);Lieferdatum;USt-IdNr', 1],
  ['Date of supply / Lieferdatum;Invoice date;VAT number', 0],
])('the column of the dates is found in %s', (header, dateColumn) => {
  const width = header.split(';').length;
  const number = header.split(';').findIndex((name) => /vat|ust|tva|nip|adó/i.test(name));
  const cells = Array.from({ length: width }, (_, column) => (column === number ? 'FR40303265045' : '31.12.2026'));
  const file = read(`${header}\n${cells.join(';')}\n`);
  expect([file.dateColumn, file.columns.candidate, file.rows[0]?.supplyDate]).toEqual([
    dateColumn,
    number,
    '31.12.2026',
  ]);
});

test.each([
  ['vat_number;supply_date;Rechnungsnummer', 'c'],
  ['vat_number;supply_date;Invoice no.;Kundennummer', 'd'],
  ['vat_number;supply_date;Invoice no.;Document no.', 'c'],
  ['vat_number;supply_date;Invoice no.;reference', 'd'],
])('the number of an invoice is the reference where none is better: %s', (header, reference) => {
  expect(read(`${header}\nFR40303265045;2026-12-31;c;d\n`).rows[0]?.reference).toBe(reference);
});

test('without a known name the only column of dates is taken', () => {
  expect(read('FR40303265045;7;31.12.2026\nATU33803803;8;\n').dateColumn).toBe(2);
  expect(read('vat_number;Wann\nFR40303265045;12/31/2026\n').dateColumn).toBe(1);
  expect(codeOf('vat_number;a;b\nFR40303265045;31.12.2026;1.1.2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.stringMatching(/^Columns 2 \(“a”\) and 3 \(“b”\) contain dates\. Write “supply_date” as the heading/),
  ]);
  expect(codeOf('FR40303265045;31.12.2026;1.1.2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.stringMatching(/^Columns 2 and 3 contain dates\./),
  ]);
  expect(codeOf('vat_number\nFR40303265045\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.stringMatching(/^No column can be the supply date\. Write “supply_date” as the heading.*YYYY-MM-DD/),
  ]);
});

test('a column of due dates is not taken for the supply dates', () => {
  expect(codeOf('USt-IdNr;Fälligkeitsdatum\nDE136695976;31.12.2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.stringMatching(
      /^No column can be the supply date, and column 2 \(“Fälligkeitsdatum”\) has dates of payment\. Write “supply_date”/,
    ),
  ]);
  expect(codeOf('TaxNumber,Reference,DueDate\nDE136695976,1,31/12/2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.anything(),
  ]);
  expect(codeOf('USt-IdNr;Datum (Fälligkeit)\nDE136695976;31.12.2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.anything(),
  ]);
  expect(read("N° TVA;Date d'échéance;Quand\nFR40303265045;31.01.2027;31.12.2026\n").dateColumn).toBe(2);
});

test.each([
  'N° TVA;Date facture;Date livraison',
  'USt-IdNr;Rechnungsdatum;Lieferung am',
  'Adószám;Számla kelte;Teljesítési dátum',
  'VAT number;Invoice date;Tax date',
  'Partita IVA;Data documento;Data effettuazione operazione',
  'NIP;Data wystawienia;Data powstania obowiązku podatkowego',
])('the date of the supply counts before that of the invoice in %s', (header) => {
  expect(read(`${header}\nDE136695976;28.11.2026;20.11.2026\n`).dateColumn).toBe(2);
});

test('the date of an invoice is not taken beside dates that may be those of the supplies', () => {
  expect(codeOf('N° TVA;Date facture;Quand\nDE136695976;28.11.2026;20.11.2026\n')).toEqual([
    'MISSING_SUPPLY_DATE',
    expect.stringMatching(/^Columns 2 \(“Date facture”\) and 3 \(“Quand”\) contain dates\. Write “supply_date”/),
  ]);
  expect(read('N° TVA;Date facture;Quand\nDE136695976;28.11.2026;\n').dateColumn).toBe(1);
  expect(
    read('USt-IdNr;Rechnungsdatum;Buchungsdatum;Fällig am\nDE136695976;1.11.2026;2.11.2026;3.12.2026\n').dateColumn,
  ).toBe(1);
  expect(read('USt-IdNr;Lieferdatum;Erfasst\nDE136695976;1.11.2026;2.11.2026\n').dateColumn).toBe(1);
});

test('two columns of the same certainty are refused', () => {
  expect(codeOf('vat_number;supply_date;Lieferdatum\nFR40303265045;1.1.2026;2.1.2026\n')).toEqual([
    'INVALID_CSV',
    expect.stringMatching(/both name the supply date/),
  ]);
});

test('what a spreadsheet adds around a date is removed', () => {
  expect(read('vat_number;supply_date\nFR40303265045;"=""31.12.2026"""\n').rows[0]?.supplyDate).toBe('31.12.2026');
});

test('a results file of a coverage can be uploaded again', () => {
  const added = 'coverage,vat_number_read,supply_date_read,check_id,checked_at,age_days,evidence_grade,error';
  const file = read(`USt-IdNr,Datum,${added}\nFR40303265045,31.12.2026,missing,FR40303265045,2026-12-31,,,,,\n`);
  expect([file.columns.candidate, file.dateColumn]).toEqual([0, 1]);
  const unnamed = read(
    `column_1,column_2,${added}\nFR40303265045,31.12.2026,covered,FR40303265044,2026-12-30,chk_1,2026-12-29T08:00:00.000Z,1,basic,\n`,
  );
  expect([unnamed.header?.[0], unnamed.columns.candidate, unnamed.dateColumn]).toEqual(['column_1', 0, 1]);
  expect(unnamed.rows.map(({ line, supplyDate }) => [line, supplyDate])).toEqual([[2, '31.12.2026']]);
});

test.each([
  ['an open one', 'offen'],
  ['one day first without separators', '05012026'],
  ['a month in letters', '5. Januar 2026'],
  ['a period', '01.01.2026-31.01.2026'],
])('an unknown column of dates with %s is not passed over for the date of the invoice', (_what, cell) => {
  const text = `VAT number;Invoice date;Delivered\nDE136695976;2026-02-01;${cell}\nFR83404833048;2026-02-01;2026-01-05\n`;
  expect(() => readCoverageFile(Buffer.from(text))).toThrow(/^Columns 2 .* and 3 \(“Delivered”\) contain dates\./);
});

test('remarks with a date in a few of them do not make the date of the invoice unclear', () => {
  const rows = ['05.01.2026 called', 'paid', 'new', 'none'].map((remark) => `DE136695976;2026-02-01;${remark}\n`);
  expect(readCoverageFile(Buffer.from(`VAT number;Invoice date;Remark\n${rows.join('')}`)).dateColumn).toBe(1);
});
