import type { BatchRow } from '@vat/domain';
import type { BatchFile } from './batch-file.js';
import { raw, utf8, utf16 } from './encode.fixture.js';
import { readBatchFile } from './read-batch-file.js';

/** `line: candidate · country · reference · requester`, without trailing nulls. */
const show = ({ line, candidate, country, reference, requester }: BatchRow): string =>
  `${line}: ${[candidate, country, reference, requester].map((value) => value ?? '').join(' · ')}`.replace(
    /( · )+$/,
    '',
  );

const csvOf = ({ source }: BatchFile) => {
  if (source.format !== 'csv') throw new Error('not CSV');
  const { encoding, bom, delimiter } = source;
  return { encoding, bom, delimiter };
};

const summarise = (file: BatchFile) => ({
  ...csvOf(file),
  preamble: file.preamble,
  header: file.header,
  foundBy: file.foundBy,
  width: file.width,
  columns: file.columns,
  rows: file.rows.map(show),
  repairs: file.repairs.map(
    ({ kind, line, column, before, after }) => `${line}/${column} ${kind} ${before} → ${after}`,
  ),
});

type Seen = Partial<ReturnType<typeof summarise>>;
type Shape = [what: string, bytes: Uint8Array, seen: Seen];

const shapes: Shape[] = [
  [
    'a comma file with the documented column names',
    utf8('vat_number,country,reference,requester\nDE136695976,DE,A-1,ATU13585627\n094259216,GR,,\n'),
    {
      encoding: 'utf-8',
      bom: false,
      delimiter: ',',
      preamble: 0,
      header: ['vat_number', 'country', 'reference', 'requester'],
      foundBy: 'header',
      width: 4,
      columns: { candidate: 0, country: 1, reference: 2, requester: 3 },
      rows: ['2: DE136695976 · DE · A-1 · ATU13585627', '3: 094259216 · GR'],
      repairs: [],
    },
  ],
  [
    'the file of a German Excel: semicolons, CR LF, Windows-1252, a euro sign',
    raw('USt-IdNr.;Name;Umsatz in ', 0x80, '\r\nDE136695976;M', 0xfc, 'ller ', 0x96, ' Bau;1.234,50\r\n'),
    {
      encoding: 'windows-1252',
      delimiter: ';',
      header: ['USt-IdNr.', 'Name', 'Umsatz in €'],
      rows: ['2: DE136695976'],
    },
  ],
  [
    'the same as "CSV UTF-8": a byte order mark',
    utf8('\uFEFFUSt-IdNr.;Name\r\nDE136695976;Müller – Bau\r\n'),
    { encoding: 'utf-8', bom: true, delimiter: ';', header: ['USt-IdNr.', 'Name'], rows: ['2: DE136695976'] },
  ],
  [
    '"Unicode text": UTF-16LE with a mark, tabs',
    utf16('\uFEFFN° TVA\tNom\r\nFR83404833048\tÉtablissements Łódź\r\n'),
    { encoding: 'utf-16le', bom: true, delimiter: '\t', header: ['N° TVA', 'Nom'], rows: ['2: FR83404833048'] },
  ],
  [
    'the file of an accounting program: vertical bars, with commas in names',
    utf8('VAT number|Customer|Reference\r\nDE136695976|Müller, Bau|A-1\r\nFR83404833048|Dupont, SA; Lyon|A-2\r\n'),
    {
      encoding: 'utf-8',
      delimiter: '|',
      header: ['VAT number', 'Customer', 'Reference'],
      rows: ['2: DE136695976 ·  · A-1', '3: FR83404833048 ·  · A-2'],
    },
  ],
  [
    'bars in the names of a file of commas',
    utf8('vat_number,name\r\nDE136695976,Müller | Bau\r\nFR83404833048,Dupont | Lyon\r\n'),
    { delimiter: ',', header: ['vat_number', 'name'], rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  [
    'UTF-16LE without a mark',
    utf16('P.IVA;Nome\r\nIT00743110157;Società\r\n'),
    { encoding: 'utf-16le', bom: false, delimiter: ';', rows: ['2: IT00743110157'] },
  ],
  [
    'UTF-16LE without a mark in Greek letters',
    utf16('ΑΦΜ;Επωνυμία επιχείρησης\r\nEL094259216;Ελληνική Εταιρεία\r\n'),
    { encoding: 'utf-16le', header: ['ΑΦΜ', 'Επωνυμία επιχείρησης'], rows: ['2: EL094259216'] },
  ],
  [
    'UTF-16BE with a mark',
    utf16('\uFEFFBTW-nummer\tNaam\r\nNL004495445B01\tBakker\r\n', 'big'),
    { encoding: 'utf-16be', bom: true, delimiter: '\t', rows: ['2: NL004495445B01'] },
  ],
  [
    'UTF-16BE without a mark',
    utf16('NIP;Nazwa\nPL8567346215;Łódź\n', 'big'),
    { encoding: 'utf-16be', bom: false, rows: ['2: PL8567346215'] },
  ],
  [
    'a sep= line, which counts as a line',
    utf8('sep=;\r\nvat_number;reference\r\nDE136695976;a,b\r\n'),
    { delimiter: ';', header: ['vat_number', 'reference'], rows: ['3: DE136695976 ·  · a,b'] },
  ],
  [
    'a sep= line with a bar',
    utf8('SEP=|\nvat|ref\nDE136695976|x;y\n'),
    { delimiter: '|', rows: ['3: DE136695976 ·  · x;y'] },
  ],
  [
    'a sep= line with a tab',
    utf8('sep=\t\nvat\tref\nDE136695976\tx\n'),
    { delimiter: '\t', rows: ['3: DE136695976 ·  · x'] },
  ],
  [
    'a sep= line that a program quoted and padded',
    utf8('"sep=,",,\nvat,ref,note\nDE136695976,x;y;z,\n'),
    { delimiter: ',', rows: ['3: DE136695976 ·  · x;y;z'] },
  ],
  [
    'a sep= line after a byte order mark',
    utf8('\uFEFFsep=;\nvat;ref\nDE136695976;x\n'),
    { bom: true, delimiter: ';', rows: ['3: DE136695976 ·  · x'] },
  ],
  [
    'old Macintosh line ends',
    utf8('vat;name\rDE136695976;x\rFR83404833048;y'),
    { rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  [
    'line ends of every kind in one file',
    utf8('vat;name\r\nDE136695976;a\nFR83404833048;b\rIT00743110157;c\r\n'),
    { rows: ['2: DE136695976', '3: FR83404833048', '4: IT00743110157'] },
  ],
  ['no line end after the last row', utf8('vat_number\nDE136695976'), { delimiter: ',', rows: ['2: DE136695976'] }],
  [
    'line breaks inside quotes, each CR LF one line',
    utf8('vat;address;ref\r\nDE136695976;"Weg 1\r\n12345 Ort\r\nDE";a\r\nFR83404833048;"1\n2\r3";b\r\n'),
    { rows: ['2: DE136695976 ·  · a', '5: FR83404833048 ·  · b'] },
  ],
  [
    'doubled quotes and delimiters inside quotes',
    utf8('"vat";"name"\n"DE136695976";"Müller ""Bau""; GmbH, Köln"\n'),
    { delimiter: ';', header: ['vat', 'name'], rows: ['2: DE136695976'] },
  ],
  [
    'a quote in the middle of a cell, which is an ordinary character',
    utf8('vat,name\nDE136695976,Schrauben 6" lang\nFR83404833048,x\n'),
    { rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  ['spaces after a closing quote', utf8('vat;name\n"DE136695976" ;"x"  \n'), { rows: ['2: DE136695976'] }],
  [
    'a header of one name above rows of more cells',
    utf8('vat_number\nDE136695976;x\nFR83404833048;y\n'),
    { delimiter: ';', width: 2, rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  [
    'decimal commas in a semicolon file',
    utf8('Betrag;USt-IdNr;Satz\n12,50;DE136695976;19,0\n1,00;FR83404833048;20,0\n'),
    { delimiter: ';', rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  [
    'decimal commas in a semicolon file without a header',
    utf8('DE136695976;12,50\nFR83404833048;13,70\n'),
    { delimiter: ';', header: null, foundBy: 'cells', rows: ['1: DE136695976', '2: FR83404833048'] },
  ],
  [
    'commas and semicolons in the addresses of a tab file',
    utf8('VAT number\tAddress\nIE6433435F\tDublin 2, Ireland; Unit 1\nDE136695976\tKöln\n'),
    { delimiter: '\t', rows: ['2: IE6433435F', '3: DE136695976'] },
  ],
  [
    'semicolons only inside quotes of a comma file',
    utf8('"a;b;c",vat_number\n"x;y;z",DE136695976\n'),
    { delimiter: ',', rows: ['2: DE136695976'] },
  ],
  [
    'one column with a header',
    utf8('USt-IdNr.\r\nDE136695976\r\n'),
    { delimiter: ',', width: 1, rows: ['2: DE136695976'] },
  ],
  [
    'one column without a header',
    utf8('DE136695976\nFR 83 404 833 048\nnot a number\n'),
    { header: null, foundBy: 'cells', rows: ['1: DE136695976', '2: FR 83 404 833 048', '3: not a number'] },
  ],
  [
    'one column and the delimiters of deleted columns',
    utf8('USt-IdNr.;;\r\nDE136695976;;\r\n;;\r\n'),
    { delimiter: ';', header: ['USt-IdNr.', '', ''], width: 3, rows: ['2: DE136695976'] },
  ],
  [
    'one column, at whose end a line of delimiters is',
    utf8('USt-IdNr.\nDE136695976\nDE12\n;;\n'),
    { delimiter: ';', header: ['USt-IdNr.'], rows: ['2: DE136695976', '3: DE12'] },
  ],
  [
    'blank lines, lines of delimiters and of spaces between the rows',
    utf8(
      '\r\n;;\r\nvat;name;x\r\n\r\nDE136695976;a;b\r\n;;;;\r\n \u00A0; \t;\u200B\r\nFR83404833048;c;d\r\n\r\n\u001A',
    ),
    { header: ['vat', 'name', 'x'], rows: ['5: DE136695976', '8: FR83404833048'] },
  ],
  [
    'rows shorter and longer than the header',
    utf8('vat;name;ref\nDE136695976\nFR83404833048;b;c;d;e\n'),
    { width: 5, rows: ['2: DE136695976', '3: FR83404833048 ·  · c'] },
  ],
  [
    'a row whose number is missing but not its other cells',
    utf8('ref;vat\nA1;\nA2;DE136695976\n'),
    { rows: ['2:  ·  · A1', '3: DE136695976 ·  · A2'] },
  ],
  [
    'no header, the number between other columns',
    utf8('4711;Müller;DE136695976\n4712;Durand;FR83404833048\n'),
    { header: null, columns: { candidate: 2, country: null, reference: null, requester: null } },
  ],
  [
    'no header, numbers without prefixes beside country codes',
    utf8('DE;136695976;x\nFR;83404833048;y\nIT;743110157;z\n'),
    { header: null, rows: ['1: 136695976 · DE', '2: 83404833048 · FR', '3: 743110157 · IT'] },
  ],
  [
    'no header, a country column that contradicts the prefixes: it is something else',
    utf8('DE136695976;FR\nFR83404833048;DE\n'),
    { header: null, columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
  [
    'no header, an IBAN and a BIC beside the number',
    utf8('DE89370400440532013000;COBADEFFXXX;DE136695976\nFR1420041010050500013M02606;BNPAFRPP;FR83404833048\n'),
    { columns: { candidate: 2, country: null, reference: null, requester: null } },
  ],
  [
    'a header with unknown names',
    utf8('Kennzeichen;Bemerkung\nDE136695976;x\n'),
    { header: ['Kennzeichen', 'Bemerkung'], foundBy: 'cells', rows: ['2: DE136695976'] },
  ],
  [
    'a header that names the country and not the number',
    utf8('Kennzeichen;Land\n136695976;Deutschland\n83404833048;FR\n'),
    { header: ['Kennzeichen', 'Land'], foundBy: 'cells', rows: ['2: 136695976 · DE', '3: 83404833048 · FR'] },
  ],
  [
    'a first row of data without a number',
    utf8('n/a;12,50\nDE136695976;13,70\n'),
    { header: null, rows: ['1: n/a', '2: DE136695976'] },
  ],
  [
    'words that also name columns in the first row of data',
    utf8('id,DE136695976,land\nref,FR83404833048,x\n'),
    { header: null, rows: ['1: DE136695976', '2: FR83404833048'] },
  ],
  [
    'a header that resembles a number in another column',
    utf8('Partner;VAT number;RO 2024\nx;DE136695976;12,50\n'),
    { header: ['Partner', 'VAT number', 'RO 2024'], rows: ['2: DE136695976'] },
  ],
  [
    'the national tax number beside the VAT number',
    utf8('NIF;NIF-IVA\nA28184661;ESA28184661\n'),
    { columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'a column of VAT amounts beside the number, and an id beside the reference',
    utf8('id;VAT number;VAT;reference\n1;DE136695976;19,00;A-1\n'),
    { columns: { candidate: 1, country: null, reference: 3, requester: null } },
  ],
  [
    'amounts of the tax beside numbers under an unknown name',
    utf8('Customer;Country;VAT registration EU;VAT %;VAT\nA;RO;RO18547290;19;1900,00\nB;DE;DE136695976;0;0,00\n'),
    {
      header: ['Customer', 'Country', 'VAT registration EU', 'VAT %', 'VAT'],
      foundBy: 'cells',
      columns: { candidate: 2, country: 1, reference: null, requester: null },
      rows: ['2: RO18547290 · RO', '3: DE136695976 · DE'],
    },
  ],
  [
    'national numbers beside VAT numbers under an unknown name',
    utf8('Client;SIREN;Identifiant intracom\nA;404833048;FR83404833048\nB;;DE136695976\n'),
    { columns: { candidate: 2, country: null, reference: null, requester: null } },
  ],
  [
    'national numbers that their countries make complete, beside numbers of somebody else',
    utf8('Land;VAT;Filiale\nDeutschland;136695976;ATU13585627\nGR;094259216;ATU13585627\n'),
    { foundBy: 'header', rows: ['2: 136695976 · DE', '3: 094259216 · GR'] },
  ],
  [
    'own numbers on the left of numbers under an unknown name',
    utf8('Our VAT number;Customer;Identification\nATU13585627;A;DE136695976\nATU13585627;B;FR83404833048\n'),
    {
      foundBy: 'cells',
      columns: { candidate: 2, country: null, reference: null, requester: 0 },
      rows: ['2: DE136695976 ·  ·  · ATU13585627', '3: FR83404833048 ·  ·  · ATU13585627'],
    },
  ],
  [
    'references that resemble numbers, on the left of numbers under an unknown name',
    utf8('Kundennummer;Land;Steuerkennzeichen\nDE10001;DE;136695976\nDE10002;DE;811569869\n'),
    { foundBy: 'cells', rows: ['2: 136695976 · DE · DE10001', '3: 811569869 · DE · DE10002'] },
  ],
  [
    'numbers that serve as references',
    utf8('Kundennummer;Name\nDE136695976;A\nFR83404833048;B\n'),
    { foundBy: 'cells', columns: { candidate: 0, country: null, reference: 0, requester: null } },
  ],
  [
    'the customers of a DATEV program: national numbers, their countries, and those of the addresses',
    utf8(
      '"EXTF";700;16;"Debitoren/Kreditoren"\nKonto;Name;EU-Land;EU-UStID;Land\n10001;A;AT;U13585627;DE\n10002;B;FR;83404833048;FR\n',
    ),
    { preamble: 1, foundBy: 'header', rows: ['3: U13585627 · AT', '4: 83404833048 · FR'] },
  ],
  [
    'the recapitulative statement of the German tax office, whose programs write no umlauts',
    utf8(
      '#v2.0\nLaenderkennzeichen,USt-IdNr.,Betrag(Euro),Art der Leistung\nAT,U13585627,1500,L\nDE,136695976,200,S\n',
    ),
    { preamble: 1, foundBy: 'header', rows: ['3: U13585627 · AT', '4: 136695976 · DE'] },
  ],
  [
    'countries without umlauts, and with their codes',
    utf8('Land;USt-IdNr.\nOesterreich;U13585627\nDE - Deutschland;136695976\nFrankreich (FR);83404833048\nDE/FR;1\n'),
    { rows: ['2: U13585627 · AT', '3: 136695976 · DE', '4: 83404833048 · FR', '5: 1 · DE/FR'] },
  ],
  [
    'a named number column beside the countries of its numbers under an unknown name, and other codes of two letters',
    utf8('Art;LKZ;Versand;USt-IdNr.\nL;AT;DE;U13585627\nS;DE;FR;136695976\nS;;FR;FR83404833048\n'),
    { foundBy: 'header', rows: ['2: U13585627 · AT', '3: 136695976 · DE', '4: FR83404833048'] },
  ],
  [
    'the same with names of countries',
    utf8('Customer,Seat,VAT number\n1,Austria,U13585627\n2,Germany,136695976\n'),
    { foundBy: 'header', columns: { candidate: 2, country: 1, reference: null, requester: null } },
  ],
  [
    'a named number column beside two columns of countries, with either of which its numbers are complete',
    utf8('From;To;VAT number\nDE;PT;136695976\nPT;DE;136695976\n'),
    { foundBy: 'header', columns: { candidate: 2, country: null, reference: null, requester: null } },
  ],
  [
    'a named number column beside countries that contradict a number: they are of something else',
    utf8('Ship to;VAT number\nDE;136695976\nFR;DE136695976\n'),
    { foundBy: 'header', columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'a named number column beside one country in all rows, which may be that of the sender',
    utf8('Dispatched from;VAT number\nDE;502757191\nDE;136695976\n'),
    { foundBy: 'header', columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    "the sender's own number above the header",
    utf8('Muster GmbH;;\nUSt-IdNr. DE136695976;;\nVAT ID;DE136695976;\nKd-Nr.;Name;USt-IdNr.\n1;A;FR83404833048\n'),
    { preamble: 3, foundBy: 'header', rows: ['5: FR83404833048 ·  · 1'] },
  ],
  [
    'numbers without a header, among them the name of a column',
    utf8('DE136695976\nFR83404833048;A\nvat_number;x\nATU13585627\n'),
    { preamble: 0, header: null, rows: ['1: DE136695976', '2: FR83404833048', '3: vat_number', '4: ATU13585627'] },
  ],
  [
    'lines of dashes in a table with vertical bars',
    utf8('|Debitor |USt-IdNr.   |\n|---|---|\n|100001  |DE136695976 |\n'),
    { rows: ['3: DE136695976 ·  · 100001'] },
  ],
  [
    'numbers in scientific notation with all their digits',
    utf8('vat;country\n1.36695976E8;DE\n1,36695976E+08;DE\n1.3669597E8;DE\n'),
    { rows: ['2: 136695976 · DE', '3: 136695976 · DE', '4: 1.3669597E8 · DE'] },
  ],
  [
    'a header in two languages, with remarks',
    utf8('VAT number / N° TVA;Country (ISO)*;Référence\nDE136695976;DE;x\n'),
    { foundBy: 'header', columns: { candidate: 0, country: 1, reference: 2, requester: null } },
  ],
  ['a header with a line break', utf8('"USt-IdNr.\n(Kunde)";Name\nDE136695976;x\n'), { rows: ['3: DE136695976'] }],
  [
    'two other columns of one name, and one without',
    utf8('Name;Name;;USt-IdNr.\na;b;c;DE136695976\n'),
    { header: ['Name', 'Name', '', 'USt-IdNr.'], rows: ['2: DE136695976'] },
  ],
  [
    'a results file that is uploaded again',
    utf8(
      'USt-IdNr.,vat_number,valid,verdict,name,address,consultation_number,check_id,error\r\nde 136695976,DE136695976,true,valid,,,,chk_1,\r\n',
    ),
    { columns: { candidate: 0, country: null, reference: null, requester: null }, rows: ['2: de 136695976'] },
  ],
  [
    'the results of a results file, with a column that was added',
    utf8(
      'USt-IdNr.,vat_number,valid,verdict,name,address,consultation_number,check_id,error,vat_number,valid,verdict,name,address,consultation_number,check_id,error,Lieferdatum\r\nde 136695976,DE136695976,true,valid,,,,chk_1,,DE136695976,true,valid,,,,chk_2,,31.12.2026\r\n',
    ),
    { columns: { candidate: 0, country: null, reference: null, requester: null }, rows: ['2: de 136695976'] },
  ],
  [
    'codes of customers that begin with RO, before the numbers',
    utf8('Code;Partner\nRO10001;RO18189442\nRO10002;FR83404833048\nRO10003;ATU33803803\n'),
    { columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'numbers of Romania alone',
    utf8('Code;Partner\nA1;RO18189442\nA2;RO14399840\n'),
    { columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'numbers with the format of amounts',
    utf8(
      'vat;country\n136.695.976,00;DE\n"136,695,976.00";DE\n136\u202f695\u202f976,00;DE\n136.695.976.00;DE\n1.366.959,76;DE\n',
    ),
    {
      rows: [
        '2: 136.695.976 · DE',
        '3: 136695976 · DE',
        '4: 136 695 976 · DE',
        '5: 136.695.976.00 · DE',
        '6: 1.366.959,76 · DE',
      ],
      repairs: [
        '2/0 decimals_removed 136.695.976,00 → 136.695.976',
        '3/0 decimals_removed 136,695,976.00 → 136,695,976',
        '3/0 grouping_removed 136,695,976 → 136695976',
        '4/0 blanks_removed 136\u202f695\u202f976,00 → 136 695 976,00',
        '4/0 decimals_removed 136 695 976,00 → 136 695 976',
      ],
    },
  ],
  [
    'a printed list with lines of dashes',
    utf8(
      'Debitoren\n-----------------------------\n|Debitor|Name |USt-IdNr.  |\n-----------------------------\n|10001  |A    |DE136695976|\n|10002  |-    |-          |\n|-------+-----+-----------|\n|10003  |C    |ATU33803803|\n-----------------------------\n',
    ),
    {
      preamble: 1,
      delimiter: '|',
      columns: { candidate: 3, country: null, reference: 1, requester: null },
      rows: ['5: DE136695976 ·  · 10001', '6: - ·  · 10002', '8: ATU33803803 ·  · 10003'],
    },
  ],
  [
    'corrected results of a file without a header: the cells that were uploaded, not the numbers of before',
    utf8(
      'column_1,column_2,vat_number,valid,verdict,name,address,consultation_number,check_id,error\r\nDE136695976,a,DE136695970,false,malformed,,,,chk_1,\r\nFR83404833048,b,FR83404833048,true,valid,,,,chk_2,\r\n',
    ),
    {
      columns: { candidate: 0, country: null, reference: null, requester: null },
      rows: ['2: DE136695976', '3: FR83404833048'],
    },
  ],
  [
    'the same with national numbers',
    utf8(
      'column_1,column_2,vat_number,valid,verdict,name,address,consultation_number,check_id,error\n136695976,DE,DE136695970,false,malformed,,,,chk_1,\n83404833048,FR,FR83404833048,true,valid,,,,chk_2,\n',
    ),
    {
      columns: { candidate: 0, country: 1, reference: null, requester: null },
      rows: ['2: 136695976 · DE', '3: 83404833048 · FR'],
    },
  ],
  [
    'only the result columns',
    utf8(
      'vat_number,valid,verdict,name,address,consultation_number,check_id,error\r\nDE136695976,true,valid,,,,chk_1,\r\n',
    ),
    { rows: ['2: DE136695976'] },
  ],
  [
    'countries written out, in several languages',
    utf8('NIP;Kraj\n8567346215;Polska\n25123891;Česko\n094259216;Griechenland\n12892312;Magyarország\n1;Mars\n2;DE\n'),
    {
      rows: [
        '2: 8567346215 · PL',
        '3: 25123891 · CZ',
        '4: 094259216 · EL',
        '5: 12892312 · HU',
        '6: 1 · Mars',
        '7: 2 · DE',
      ],
      repairs: [
        '2/1 country_name_read Polska → PL',
        '3/1 country_name_read Česko → CZ',
        '4/1 country_name_read Griechenland → EL',
        '5/1 country_name_read Magyarország → HU',
      ],
    },
  ],
  [
    'a column with the own number of the sender in every row, before the numbers of the customers',
    utf8('Firma;Partner\nDE136695976;\nDE136695976;FR83404833048\nDE136695976;ATU33803803\n'),
    { columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'the same number in every row, and no others',
    utf8('Firma;Partner\nDE136695976;\nDE136695976;FR83404833048\n'),
    { columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
  [
    'one number in every row, and codes that begin with RO, some of which have the check digit',
    utf8(
      'Code;Partner\nRO10001;DE136695976\nRO10002;DE136695976\nRO10003;DE136695976\nRO10004;DE136695976\nRO10005;DE136695976\nRO10011;DE136695976\nRO10012;DE136695976\n',
    ),
    { columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'the own number of the sender in every row, beside tax numbers, one of which is malformed',
    utf8('Firma;NIF;País\nDE136695976;A28184661;ES\nDE136695976;B12;ES\n'),
    { columns: { candidate: 1, country: 2, reference: null, requester: null } },
  ],
  [
    'one number in every row of the column that is called vat_number, beside different ones',
    utf8('vat_number;Partner\nDE136695976;FR83404833048\nDE136695976;ATU13585627\n'),
    { foundBy: 'header', columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
  [
    'one tax number in every row, beside different VAT numbers under an unknown name',
    utf8('NIF;Partner\nB58378431;FR83404833048\nB58378431;ATU13585627\n'),
    { foundBy: 'cells', columns: { candidate: 1, country: null, reference: null, requester: null } },
  ],
  [
    'results of tax numbers with the format of amounts: the cells that were uploaded',
    utf8(
      'Tax ID;Country;vat_number;valid;verdict;name;address;consultation_number;check_id;error\n136.695.976,00;DE;DE136695976;true;valid;;;;chk_1;\n',
    ),
    { columns: { candidate: 0, country: 1, reference: null, requester: null }, rows: ['2: 136.695.976 · DE'] },
  ],
  [
    'signs of vehicles of one letter alone, beside numbers without a prefix',
    utf8('USt-IdNr;Länderkennzeichen\n136695976;D\n;D\n33803803;A\n'),
    { rows: ['2: 136695976 · DE', '3:  · DE', '4: 33803803 · AT'] },
  ],
  [
    'the transactions of a marketplace, with the numbers of the seller before that of the buyer',
    utf8(
      'SELLER_DEPART_COUNTRY_VAT_NUMBER\tTRANSACTION_SELLER_VAT_NUMBER\tBUYER_VAT_NUMBER_COUNTRY\tBUYER_VAT_NUMBER\nDE136695976\tFR83404833048\tAT\tATU33803803\nFR83404833048\tFR83404833048\t\t\n',
    ),
    { columns: { candidate: 3, country: null, reference: null, requester: null }, rows: ['2: ATU33803803', '3: '] },
  ],
  [
    'signs of vehicles and codes of three letters',
    utf8('USt-IdNr;Länderkennzeichen\n136695976;D\nDE136695976;D\n33803803;A\n123456789;NL\n83404833048;fra\n'),
    {
      rows: [
        '2: 136695976 · DE',
        '3: DE136695976 · DE',
        '4: 33803803 · AT',
        '5: 123456789 · NL',
        '6: 83404833048 · FR',
      ],
    },
  ],
  [
    'a column called Land with single letters alone, which may stand for something else',
    utf8('USt-IdNr;Land\nDE136695976;I\nFR83404833048;E\n'),
    { columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
  [
    'territories that share the numbers of a member state, by code and written out',
    utf8('VAT number;Country\nXI110305878;United Kingdom\nXI110305878;GB\nFR83404833048;La Réunion\n'),
    {
      columns: { candidate: 0, country: 1, reference: null, requester: null },
      rows: ['2: XI110305878 · GB', '3: XI110305878 · GB', '4: FR83404833048 · RE'],
    },
  ],
  [
    'no header, and the country of the address beside a number of Northern Ireland',
    utf8('XI110305878;GB\nFR83404833048;MC\n'),
    { header: null, columns: { candidate: 0, country: 1, reference: null, requester: null } },
  ],
  [
    'a column called Land that holds regions',
    utf8('USt-IdNr;Land\nDE136695976;Bayern\nDE811569869;Hessen\n'),
    { columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
  [
    'numbers that a spreadsheet damaged',
    utf8(
      'vat;country\n136695976.0;DE\n136695976,00;DE\n"136,695,976";DE\n1.36696E+11;IT\n743110157;IT\n123.456.789;DE\n',
    ),
    {
      rows: [
        '2: 136695976 · DE',
        '3: 136695976 · DE',
        '4: 136695976 · DE',
        '5: 1.36696E+11 · IT',
        '6: 743110157 · IT',
        '7: 123.456.789 · DE',
      ],
      repairs: [
        '2/0 decimals_removed 136695976.0 → 136695976',
        '3/0 decimals_removed 136695976,00 → 136695976',
        '4/0 grouping_removed 136,695,976 → 136695976',
        '5/0 digits_lost 1.36696E+11 → 1.36696E+11',
      ],
    },
  ],
  [
    'decimals of a database, and three digits that may be a group',
    utf8('vat_number;country\n1234.0000;RO\n136695976.000000;DE\n12345.000;RO\n'),
    { rows: ['2: 1234 · RO', '3: 136695976 · DE', '4: 12345.000 · RO'] },
  ],
  [
    'text marks and invisible characters around numbers',
    utf8(
      `vat;ref\n'DE136695976;'007\n="FR83404833048";="08"\nDE\u00A0136\u202F695\u200B976;\u00A0x y\u200B\n  DE136695976  ; z \n`,
    ),
    {
      rows: [
        '2: DE136695976 ·  · 007',
        '3: FR83404833048 ·  · 08',
        '4: DE 136 695976 ·  · x y',
        '5: DE136695976 ·  · z',
      ],
      repairs: [
        "2/0 apostrophe_removed 'DE136695976 → DE136695976",
        "2/1 apostrophe_removed '007 → 007",
        '3/0 formula_unwrapped ="FR83404833048" → FR83404833048',
        '3/1 formula_unwrapped ="08" → 08',
        '4/0 blanks_removed DE\u00A0136\u202F695\u200B976 → DE 136 695976',
        '4/1 blanks_removed \u00A0x y\u200B → x y',
      ],
    },
  ],
  [
    'thousands of empty cells to the right, as Excel leaves them',
    utf8(`vat;name${';'.repeat(16_382)}\nDE136695976;x${';'.repeat(16_382)}\n`),
    { width: 1_000, rows: ['2: DE136695976'] },
  ],
  [
    'byte order marks in the middle, from joined files',
    utf8('\uFEFFvat;name\nDE136695976;a\n\uFEFFFR83404833048;b\n'),
    { rows: ['2: DE136695976', '3: FR83404833048'] },
  ],
  [
    'a title above the header',
    utf8('Kundenliste 2026;;\n;;\nName;USt-IdNr;Referenz\nMüller;DE136695976;A-1\nNix;;A-2\n'),
    {
      preamble: 1,
      header: ['Name', 'USt-IdNr', 'Referenz'],
      foundBy: 'header',
      rows: ['4: DE136695976 ·  · A-1', '5:  ·  · A-2'],
    },
  ],
  [
    'a title without delimiters, and wider than the rows, above numbers that match no syntax by themselves',
    utf8('"Export, of 2026-11-20\nby me"\nOwner:,me,,,,,\nNIP,Kraj\n8567346215,PL\n'),
    { delimiter: ',', preamble: 2, width: 2, header: ['NIP', 'Kraj'], rows: ['5: 8567346215 · PL'] },
  ],
  [
    'nine rows above the header',
    utf8(`${'Liste;x\n'.repeat(9)}Name;VAT number\nx;DE136695976\n`),
    { preamble: 9, rows: ['11: DE136695976'] },
  ],
  [
    'a number above a row that names its column: all of it is data',
    utf8('Müller;DE136695976\nName;USt-IdNr\nDurand;FR83404833048\n'),
    { preamble: 0, header: null, rows: ['1: DE136695976', '2: USt-IdNr', '3: FR83404833048'] },
  ],
  [
    'the same with the country in a separate cell',
    utf8('DE;136695976;\nFR;83404833048;VAT\nIT;743110157;1\n'),
    { preamble: 0, header: null, rows: ['1: 136695976 · DE', '2: 83404833048 · FR', '3: 743110157 · IT'] },
  ],
  [
    'a column of data with the kind of number',
    utf8('Art;Partner;Nummer\nVAT;x;DE12\nNIF;y;DE136695976\n'),
    { preamble: 0, header: ['Art', 'Partner', 'Nummer'], rows: ['2: DE12', '3: DE136695976'] },
  ],
  [
    'the same without a well-formed number, and without one in some rows',
    utf8('Art;Nummer\nVAT;n/a\nVAT;DE12\nVAT;DE13\n'),
    { preamble: 0, header: ['Art', 'Nummer'], rows: ['2: n/a', '3: DE12', '4: DE13'] },
  ],
  [
    'a title above a header, and no number below it',
    utf8('Liste\nvat_number\nunknown\n'),
    { preamble: 1, header: ['vat_number'], rows: ['3: unknown'] },
  ],
  [
    'no header and no number that is well-formed',
    utf8('DE100\nDE 200\ngr1\nATU12\nESB1\nn/a\n'),
    { header: null, foundBy: 'cells', rows: ['1: DE100', '2: DE 200', '3: gr1', '4: ATU12', '5: ESB1', '6: n/a'] },
  ],
  ['one malformed number alone', utf8('DE12\n'), { header: null, rows: ['1: DE12'] }],
  [
    'malformed numbers of several countries beside names, below an unknown header',
    utf8('Partner;Kennzeichen\nMüller;NL1\nDurand;FR2\n'),
    { delimiter: ';', header: ['Partner', 'Kennzeichen'], rows: ['2: NL1', '3: FR2'] },
  ],
  [
    'a word above a number, which is its header',
    utf8('nonsense\nDE123456789\n'),
    { header: ['nonsense'], rows: ['2: DE123456789'] },
  ],
  [
    'numbers of countries that are not covered',
    utf8('GB999999973;x\nCHE-116.281.710 MWST;y\n'),
    { header: null, columns: { candidate: 0, country: null, reference: null, requester: null } },
  ],
];

describe('readBatchFile', () => {
  test.each(shapes)('reads %s', (_what, bytes, seen) => {
    const summary = summarise(readBatchFile(bytes));
    expect(Object.fromEntries(Object.keys(seen).map((key) => [key, summary[key as keyof Seen]]))).toEqual(seen);
  });

  test('returns every cell as in the file', () => {
    const { rows, header } = readBatchFile(utf8(`vat; Name ;x\n'DE136695976;" a ""b"" ";=1+1\n 136695976.0 \n`));
    expect(header).toEqual(['vat', ' Name ', 'x']);
    expect(rows.map(({ cells }) => cells)).toEqual([["'DE136695976", ' a "b" ', '=1+1'], [' 136695976.0 ']]);
  });
});
