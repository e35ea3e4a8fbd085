import { raw, utf8, utf16 } from './encode.fixture.js';
import { readBatchFile } from './read-batch-file.js';
import { refuse } from './refuse.fixture.js';

describe('readBatchFile finds no row of data in', () => {
  test.each([
    ['0 bytes', new Uint8Array()],
    ['a byte order mark', utf8('\uFEFF')],
    ['a byte order mark of UTF-16', raw(0xff, 0xfe)],
    ['blank lines', utf8('\r\n\r\n \n\t\n')],
    ['lines of delimiters', utf8(';;;\r\n;;;\r\n')],
    ['lines of empty quotes and invisible characters', utf8('"";"\u200B"\n\u00A0;\n')],
    ['only a header', utf8('vat_number;name\r\n')],
    ['only a header that does not name the number', utf8('country;reference\r\n')],
    ['only a header with unknown names', utf8('Lieferant;Ort\r\n;\r\n')],
    ['a header and blank lines', utf8('USt-IdNr.;Name\r\n;\r\n\r\n ; \r\n')],
    ['a header of one column and lines of delimiters', utf8('vat_number\n;\n ;; \n;\n')],
    ['a title and a header', utf8('Kundenliste 2026;;\r\nName;USt-IdNr;Referenz\r\n')],
    ['only a sep= line', utf8('sep=;')],
    ['a sep= line and a header', utf8('sep=;\r\nvat;name')],
  ])('%s', (_what, bytes) => {
    expect(refuse(() => readBatchFile(bytes))).toMatchObject({ code: 'EMPTY_FILE', line: undefined });
  });
});

describe('readBatchFile finds no number in', () => {
  test.each([
    ['names and towns', 'name,city\nACME,Berlin\nDurand,Paris\n'],
    ['a country and a reference', 'country;reference\nDE;A-1\n'],
    ['numbers that no country goes with', '136695976;Müller\n83404833048;Durand\n'],
    ['invoices, telephones, dates and accounts', 'INV-2024001;+49 30 1234567;2024-01-31;DE89370400440532013000\n'],
    ['one column of words', 'alpha\nbeta\n'],
    ['one row with figures', 'Müller;12\n'],
    [
      'prices in currencies',
      '100 EUR;SEK 100;PLN50;RON 12,50;ESP 100;CZK 1.000\n90 EUR;SEK 90;PLN 40;RON 1;ESP 9;CZK 2\n',
    ],
    ['words and numbers', 'Item 12;De 12 dagen;Platz 3;BE, 4\nItem 13;De 13 dagen;Platz 4;BE, 5\n'],
    ['dates and times', '12.01.2026;SE 2026-01-31 10:00\n13.01.2026;SE 2026-02-28 11:00\n'],
    ['countries that are not covered', 'XX12\nUS100\n'],
    ['one malformed number among words', 'alpha\nbeta\nDE12\ngamma\n'],
    ['references with a country at their front', 'name;reference\nACME;SE-1\nDurand;SE-2\n'],
  ])('%s', (_what, text) => {
    expect(refuse(() => readBatchFile(utf8(text)))).toMatchObject({ code: 'MISSING_CANDIDATE', line: undefined });
  });
});

describe('readBatchFile refuses as INVALID_FILE', () => {
  const zip = (name: string) => raw('PK', 3, 4, 20, 0, 6, 0, 8, 0, 0, 0, '!', 0, name, 0, 0xff, 0xfe);

  test.each<[what: string, bytes: Uint8Array, says: string]>([
    ['the beginning of an Excel workbook', zip('[Content_Types].xml'), 'damaged or incomplete'],
    ['an OpenDocument spreadsheet', zip('mimetypeapplication/vnd.oasis.opendocument.spreadsheet'), '(.ods)'],
    ['a Numbers spreadsheet', zip('Index/Document.iwa'), 'a Numbers spreadsheet'],
    ['another archive', zip('a.txt'), 'a ZIP archive'],
    ['an empty archive', raw('PK', 5, 6), 'an empty ZIP archive'],
    ['an old Excel workbook', raw(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0), '(.xls)'],
  ])('%s', (_what, bytes, says) => {
    const refusal = refuse(() => readBatchFile(bytes));
    expect(refusal).toMatchObject({ code: 'INVALID_FILE', line: 1, message: expect.stringContaining(says) });
  });
});

describe('readBatchFile refuses as INVALID_CSV', () => {
  test.each<[what: string, bytes: Uint8Array, line: number, says: string]>([
    ['a PDF document', raw('%PDF-1.7\n%', 0xe2, 0xe3, '\n'), 1, 'a PDF document'],
    ['a picture', raw(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0), 1, 'a picture'],
    ['a compressed file', raw(0x1f, 0x8b, 8, 0), 1, '(.gz)'],
    ['an array in JSON', utf8('[{"vat_number":"DE136695976"}]'), 1, 'JSON'],
    ['an object in JSON', utf8('\uFEFF{\n  "data": [{ "vat_number": "DE136695976" }]\n}\n'), 1, 'JSON'],
    ['a web page that is called .xls', utf8('\uFEFF\r\n<html><table><tr><td>vat</td></tr></table>'), 1, 'a web page'],
    [
      'control characters',
      utf8(`vat;name\nDE136695976;a\nFR83404833048;${'\u0001'.repeat(1_001)}\n`),
      3,
      'not a text file',
    ],
    ['a NUL character', utf8('vat;name\nDE136695976;a\nFR83404833048;\0b\n'), 3, 'NUL'],
    [
      'a quote that is never closed',
      utf8('vat;name\nDE136695976;"x\ny"\nFR83404833048;"oops\nIT00743110157;z\n'),
      4,
      'never closed',
    ],
    ['a quote that closes too late', utf8('vat;name\nDE136695976;"oops\nFR83404833048;"x"\n'), 2, 'not doubled'],
    ['an undoubled quote inside quotes', utf8('vat;name\nDE136695976;"Müller "Bau" GmbH"\n'), 2, 'not doubled'],
    ['an open quote in the first cell', utf8('"vat;name\nDE136695976;x\n'), 1, 'never closed'],
    ['an open quote between tabs', utf8('vat_number\t"ref\nDE136695976\t1\n'), 1, 'never closed'],
    ['an open quote between bars', utf8('vat_number|"ref\nDE136695976|1\n'), 1, 'never closed'],
    ['UTF-8 that breaks its mark', raw(0xef, 0xbb, 0xbf, 'vat;name\nDE136695976;M', 0xfc, 'ller\n'), 2, 'not UTF-8'],
    [
      'UTF-8 with a line of another encoding',
      Buffer.concat([utf8('vat;name\nDE136695976;Müller & Söhne\r\n'), raw('FR83404833048;Caf', 0xe9, '\r\n')]),
      3,
      'not UTF-8',
    ],
    ['half a character of UTF-16', raw(0xff, 0xfe, 'v', 0, 'a', 0, 't', 0, '\n', 0, 'D'), 2, 'not UTF-16'],
    ['half a pair of UTF-16', utf16('\uFEFFvat;name\r\nDE136695976;\uD83D!\r\n'), 2, 'not UTF-16'],
    [
      'Windows-1250, in which Ť and Ź are bytes that Windows-1252 does not have',
      raw('vat;name\nPL8567346215;', 0xa3, 0xf3, 'd', 0x9f, '\nCZ25123891;', 0x8d, 'esko\n'),
      3,
      'neither UTF-8 nor Windows-1252. Save the file as “CSV UTF-8”.',
    ],
    ['bytes that are no text', raw(...Array.from({ length: 50 }, () => [0xff, 0xfd, 0x80, 0x90]).flat()), 1, 'neither'],
    ...[0x81, 0x8d, 0x8f, 0x90, 0x9d].map<[string, Uint8Array, number, string]>((byte) => [
      `the byte 0x${byte.toString(16)}`,
      raw('vat;name\r\nDE136695976;M', 0xfc, 'ller\r\nDE136695976;', byte, '\r\n'),
      3,
      'neither',
    ]),
    [
      'two columns of the number',
      utf8('\nvat_number;name;USt-IdNr.\nDE136695976;x;DE136695976\n'),
      2,
      'the VAT number',
    ],
    ['two columns of one name', utf8('vat,vat\nDE136695976,FR83404833048\n'), 1, '1 (“vat”) and 2 (“vat”)'],
    ['two columns of the number below a title', utf8('Liste,\nvat,vat\nDE136695976,DE136695976\n'), 2, 'both name'],
    [
      'the own number of the sender beside those of the customers',
      utf8('USt-IdNr;USt-IdNr. Abnehmer\nDE136695976;LU26375245\nDE136695976;SI50223054\n'),
      1,
      '1 (“USt-IdNr”) and 2 (“USt-IdNr. Abnehmer”) both name the VAT number',
    ],
    [
      'the own tax number of the sender beside those of the customers',
      utf8('NIF;NIF destinatario\nB58378431;FR40303265045\nB58378431;ATU33803803\n'),
      1,
      'both name the VAT number',
    ],
    [
      'one number in every row beside different ones under an unknown name',
      utf8('N° TVA;Partenaire\nFR40303265045;DE136695976\nFR40303265045;ATU33803803\n'),
      1,
      'Column 1 (“N° TVA”) repeats one number, and column 2 (“Partenaire”) has different ones: write “vat_number”',
    ],
    ['two columns of the reference', utf8('vat,ref,reference\nDE136695976,1,2\n'), 1, 'the reference'],
    ['two columns of the country', utf8('vat,country,Land\nDE136695976,DE,DE\n'), 1, 'the country'],
    ['two columns of the requester', utf8('vat,requester,Own VAT number\nDE136695976,,\n'), 1, "the requester's"],
    ['more columns than anybody means', utf8(`vat${';x'.repeat(1_000)}\nDE136695976\n`), 1, '1 000 columns'],
  ])('%s', (_what, bytes, line, says) => {
    const refusal = refuse(() => readBatchFile(bytes));
    expect(refusal).toMatchObject({ code: 'INVALID_CSV', line });
    expect(refusal.message).toContain(says);
  });
});
