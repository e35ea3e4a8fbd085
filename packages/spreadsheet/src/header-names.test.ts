import type { Meaning } from './batch-file.js';
import { foldName } from './cells.js';
import { findColumns } from './find-columns.js';
import { HEADER_NAMES } from './header-names.js';

const meanings = Object.keys(HEADER_NAMES) as Meaning[];
const namesOf = (meaning: Meaning) => HEADER_NAMES[meaning].flat();

describe('HEADER_NAMES', () => {
  test.each(meanings)('has no name of %s twice, none that is empty, and none of another meaning', (meaning) => {
    const folded = namesOf(meaning).map(foldName);
    expect(folded).not.toContain('');
    expect(new Set(folded).size).toBe(folded.length);
    const others = new Set(
      meanings
        .filter((other) => other !== meaning)
        .flatMap(namesOf)
        .map(foldName),
    );
    expect(folded.filter((name) => others.has(name))).toEqual([]);
  });

  test.each([
    ['bg', 'ДДС номер'],
    ['cs', 'DIČ'],
    ['da', 'Momsnr.'],
    ['de', 'USt-IdNr.'],
    ['de-AT', 'UID'],
    ['el', 'Α.Φ.Μ.'],
    ['en', 'VAT number'],
    ['es', 'NIF'],
    ['es', 'C.I.F.'],
    ['et', 'KMKR number'],
    ['fi', 'ALV-numero'],
    ['fr', 'Numéro de TVA intracommunautaire'],
    ['ga', 'Uimhir CBL'],
    ['hr', 'OIB'],
    ['hu', 'ADÓSZÁM'],
    ['it', 'Partita IVA'],
    ['lt', 'PVM mokėtojo kodas'],
    ['lv', 'PVN reģistrācijas numurs'],
    ['mt', 'Numru tal-VAT'],
    ['nl', 'btw-nummer'],
    ['pl', 'NIP'],
    ['pt', 'Número de contribuinte'],
    ['ro', 'Cod TVA'],
    ['sk', 'IČ DPH'],
    ['sl', 'ID za DDV'],
    ['sv', 'Momsregistreringsnummer'],
  ])('recognises the column of the numbers in %s by %s', (_language, name) => {
    expect(findColumns(['Name', name]).candidate).toEqual([1]);
  });

  test.each([
    ['  ust - idnr  ', 'candidate'],
    ['UST_IDNR*', 'candidate'],
    ['N° T.V.A.', 'candidate'],
    ['Nº IVA', 'candidate'],
    ['αφμ', 'candidate'],
    ['VATNUMBER', 'candidate'],
    ['Federal Tax ID', 'candidate'],
    ['NIF / VAT', 'candidate'],
    ['NIP nabywcy', 'candidate'],
    ['Country/Region Code', 'country'],
    ['POCountry', 'country'],
    ['Codice ISO', 'country'],
    ['Pays', 'country'],
    ['COUNTRY CODE', 'country'],
    ['Χώρα', 'country'],
    ['reference', 'reference'],
    ['Kunden-Nr.', 'reference'],
    ['Rechnungsnr.', 'reference'],
    ['N° de facture', 'reference'],
    ['Requester (VAT number)', 'requester'],
    ['requester_vat_number', 'requester'],
  ] as const)('takes "%s" for the %s alone', (name, meaning) => {
    const none = { candidate: [], country: [], reference: [], requester: [] };
    expect(findColumns([name])).toEqual({ ...none, [meaning]: [0] });
  });

  test.each([
    'USt-IdNr. des Abnehmers',
    'N° TVA acheteur',
    'Partita IVA cessionario',
    'BTW-nummer afnemer',
    'Numer VAT odbiorcy',
    'VAT ID Recipient',
    "Buyer's VAT number",
    'ΑΦΜ λήπτη',
    'Cod TVA cumpărător',
    'Köparens momsnummer',
    'NIF destinatario',
  ])('takes "%s", with a word for the customer, for the number', (name) => {
    expect(findColumns([name]).candidate).toEqual([0]);
  });

  test.each(['Steuernummer', 'IBAN', 'Name', 'IČO', 'Ort', 'valid', 'vat amount', 'Menge', 'Status', ''])(
    'does not recognise "%s"',
    (name) => {
      expect(Object.values(findColumns([name])).flat()).toEqual([]);
    },
  );
});
