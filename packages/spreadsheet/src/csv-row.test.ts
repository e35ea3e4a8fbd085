import { csvRow } from './cells.js';
import { type LineResult, RESULT_COLUMNS, resultsFile } from './results-file.js';

describe('csvRow', () => {
  test('writes values of all kinds, separated by commas and followed by CR LF', () => {
    expect(csvRow(['a b', '', null, true, 12, 'ü'])).toBe('a b,,,true,12,ü\r\n');
  });

  test.each([
    ['a quote, doubled', 'say "hi"', '"say ""hi"""'],
    ['the delimiter', 'a,b', '"a,b"'],
    ['the delimiter of other locales', 'a;b\tc', '"a;b\tc"'],
    ['a line break', 'a\r\nb', '"a\r\nb"'],
    ['outer blanks', ' a ', '" a "'],
    ['ID, which Excel would take for SYLK', 'ID', '"ID"'],
  ])('quotes %s', (_what, cell, written) => {
    expect(csvRow([cell])).toBe(`${written}\r\n`);
  });

  test.each([
    ...['=1+1', '+49 30 1234', '-12.50', '@SUM(A1)', ' =1', '\u00A0=1', '\u200B=1', '\uFEFF@x', '\u3000-1', '\u00AD+1'],
    ...[
      '＝1',
      '＋1',
      '－1',
      '＠x',
      '﹢1',
      '⁺1',
      '\u22121',
      '\tx',
      '\rx',
      '\nx',
      '\t',
      '\u2800=1',
      "-2+3+cmd|' /C calc'!A0",
    ],
  ])('defuses %j with a leading mark', (cell) => {
    expect(csvRow([cell, '']).replace(/^"|"?,\r\n$/g, '')).toBe(`'${cell}`);
  });

  test.each(["'=1", "'", 'a=b', '1-2', 'x@y.example', '–', '\u00A0x', '\u200B', '#REF!', '%20'])(
    'does not change %j',
    (cell) => {
      expect(csvRow([cell]).replace(/^"|"?\r\n$/g, '')).toBe(cell);
    },
  );

  test.each([
    [',', "X;=cmd|' /C calc'!A0;Y", `"X;'=cmd|' /C calc'!A0;Y"`],
    [';', "X,=cmd|' /C calc'!A0,Y", `"X,'=cmd|' /C calc'!A0,Y"`],
    [',', 'X\t@SUM(A1)', `"X\t'@SUM(A1)"`],
    ['\t', 'X, -1; +2', `"X,' -1;' +2"`],
    [',', 'Weg 1\n=1+1\r\n\tOrt', `"Weg 1\n'=1+1\r\n'\tOrt"`],
    [',', 'X;"=1"', `"X;'""=1"""`],
    [',', '=1;=2', `"'=1;'=2"`],
    [',', ';"\t', `";'""\t"`],
    ['\t', 'X\r \t@SUM(A1)', `"X\r' \t@SUM(A1)"`],
  ] as const)('in a file with %j defuses %j after another delimiter or a line break', (delimiter, cell, written) => {
    expect(csvRow(['a', cell, 'b'], delimiter)).toBe(`a${delimiter}${written}${delimiter}b\r\n`);
  });

  test.each(['a; b', 'Weg 1;\nOrt', 'a, -b', 'a-b;c', '1;2', 'x;'])(
    'does not change %j in a file with commas',
    (cell) => {
      expect(csvRow([cell, 'b'])).toBe(`"${cell}",b\r\n`);
    },
  );

  test('ends a row with a mark where its closing quote would open a cell that begins with CR', () => {
    expect(csvRow(['a;', 'x;'])).toBe(`"a;","x;'"\r\n`);
  });

  test('defuses a negative number like any text', () => {
    expect(csvRow([-12.5, 12.5])).toBe("'-12.5,12.5\r\n");
  });
});

describe('resultsFile', () => {
  const nothing: LineResult = {
    vat_number: null,
    valid: null,
    verdict: null,
    name: null,
    address: null,
    consultation_number: null,
    check_id: null,
    error: null,
  };
  const valid: LineResult = {
    ...nothing,
    vat_number: 'DE136695976',
    valid: true,
    verdict: 'valid',
    name: 'Müller "Bau" GmbH',
    address: 'Weg 1\n12345 Ort',
    consultation_number: 'WAPI1',
    check_id: 'chk_1',
  };
  const added = RESULT_COLUMNS.join(',');

  test('adds the result columns after the original ones', () => {
    const file = resultsFile({ columns: RESULT_COLUMNS, header: ['USt-IdNr.', 'Name'], width: 2 });
    expect(file.header()).toBe(`USt-IdNr.,Name,${added}\r\n`);
    expect(file.row(['de 136 695 976', ' Müller '], valid)).toBe(
      'de 136 695 976," Müller ",DE136695976,true,valid,"Müller ""Bau"" GmbH","Weg 1\n12345 Ort",WAPI1,chk_1,\r\n',
    );
  });

  test('numbers the columns of a file without a header', () => {
    expect(resultsFile({ columns: RESULT_COLUMNS, header: null, width: 3 }).header()).toBe(
      `column_1,column_2,column_3,${added}\r\n`,
    );
  });

  test('pads short rows and a short header to the widest row', () => {
    const file = resultsFile({ columns: RESULT_COLUMNS, header: ['vat', ''], width: 4 });
    expect(file.header()).toBe(`vat,,column_3,column_4,${added}\r\n`);
    expect(file.row(['n/a'], { ...nothing, error: 'BAD_REQUEST' })).toBe('n/a,,,,,,,,,,,BAD_REQUEST\r\n');
  });

  test.each([';', '\t'] as const)(
    'uses %j as delimiter and begins with a byte order mark if requested',
    (delimiter) => {
      const file = resultsFile({ columns: RESULT_COLUMNS, header: ['a,b'], width: 1, delimiter, bom: true });
      expect(file.header()).toBe(`\uFEFF"a,b"${delimiter}${RESULT_COLUMNS.join(delimiter)}\r\n`);
      expect(file.row(['x'], nothing)).toBe(`x${delimiter.repeat(8)}\r\n`);
    },
  );
});
