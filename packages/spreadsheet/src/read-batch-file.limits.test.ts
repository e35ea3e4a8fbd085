import { utf8 } from './encode.fixture.js';
import { readBatchFile } from './read-batch-file.js';
import { scanRows } from './scan-rows.js';

const rows = (count: number) => 'DE136695976;x\r\n'.repeat(count);

const codeOf = (text: string): string => {
  try {
    readBatchFile(utf8(text));
    return 'read';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('readBatchFile', () => {
  test.each([
    ['below a header', 'vat;name\r\n'],
    ['below a title and a header', 'Suppliers\r\n2026\r\nvat;name\r\n'],
    ['without a header', ''],
    ['among blank lines', ';\r\n\r\nvat;name\r\n;;;\r\n'],
  ])('accepts exactly 10 000 rows %s, and refuses one more', (_what, front) => {
    expect(readBatchFile(utf8(front + rows(10_000))).rows).toHaveLength(10_000);
    expect(codeOf(front + rows(10_001))).toBe('TOO_MANY_ROWS');
  });

  test('refuses an endless file without reading the rest', () => {
    expect(codeOf(`${rows(10_002)}"never closed`)).toBe('TOO_MANY_ROWS');
  });

  test('accepts 1 000 columns', () => {
    expect(readBatchFile(utf8(`vat\nDE136695976;${'x;'.repeat(998)}y\n`)).width).toBe(1_000);
  });

  test.each<[string, string, string, string, number]>([
    ['of the number', 'vat_number;note\n', '1', ';y\nDE136695976;z\n', 2],
    ['of another column', 'vat_number;note\nDE136695976;z\nDE136695976;', 'x', '\n', 2],
    ['of groups of digits', 'vat_number;note\n"123', ',123', '"\n', 1],
    ['of blanks', 'vat_number;note\nDE136695976;', '\u3000', 'x\n', 1],
    ['of quoted line breaks', 'vat_number;note\nDE136695976;"', 'a,\r\n', '"\n', 1],
    ['of doubled quotes and commas in the header', 'vat_number;"', '"",', '"\nDE136695976;x\n', 1],
    ['of commas in the first row, without a header', 'DE136695976;"', 'a,', '"\nFR83404833048;x\n', 2],
  ])('reads exactly 2 MiB of one cell %s', (_what, front, piece, end, rows) => {
    const room = (2 << 20) - utf8(front + end).length;
    const cell = piece.repeat(Math.floor(room / utf8(piece).length));
    const bytes = utf8(front + cell + end + '\n'.repeat(room - utf8(cell).length));
    expect(bytes).toHaveLength(2 << 20);
    const file = readBatchFile(bytes);
    expect([file.source, file.rows.length]).toEqual([expect.objectContaining({ delimiter: ';' }), rows]);
    const written = [...(file.header ?? []), ...file.rows.flatMap(({ cells }) => cells)];
    expect(Math.max(...written.map(({ length }) => length))).toBeGreaterThanOrEqual(cell.length / 2);
  });

  test('reads exactly 2 MiB of 10 000 rows', () => {
    const text = rows(10_000);
    const name = 'x'.repeat(Math.floor(((2 << 20) - text.length) / 10_000));
    const filled = text.replaceAll(';x', `;x${name}`);
    const bytes = utf8(filled + '\n'.repeat((2 << 20) - filled.length));
    expect(bytes).toHaveLength(2 << 20);
    expect(readBatchFile(bytes).rows).toHaveLength(10_000);
  });
});

describe('the columns are recognised by the first rows', () => {
  const late = (rows: number, columns: number) =>
    `${`-${';x'.repeat(columns - 1)}\n`.repeat(rows)}DE136695976${';x'.repeat(columns - 1)}\n`;

  test('and by further ones if the first 200 contain no number', () => {
    expect(readBatchFile(utf8(late(250, 3))).columns.candidate).toBe(0);
    expect(readBatchFile(utf8(late(9_000, 10))).columns.candidate).toBe(0);
  });

  test('but by no more than 100 000 cells', () => {
    expect(readBatchFile(utf8(late(90, 1_000))).columns.candidate).toBe(0);
    expect(codeOf(late(110, 1_000))).toBe('MISSING_CANDIDATE');
  });

  test('a name in the header needs none of them', () => {
    expect(readBatchFile(utf8(`vat${';'.repeat(999)}\n${late(110, 1_000)}`)).columns.candidate).toBe(0);
  });
});

/** A string that counts how many of its characters are read in any way. */
const watched = (text: string) => {
  let looked = 0;
  const proxy = {
    length: text.length,
    charCodeAt: (at: number) => {
      looked += 1;
      return text.charCodeAt(at);
    },
    indexOf: (found: string, from: number) => {
      const at = text.indexOf(found, from);
      looked += (at === -1 ? text.length : at) - from + 1;
      return at;
    },
    slice: (from: number, to: number) => {
      looked += to - from;
      return text.slice(from, to);
    },
  };
  const source = new Proxy(proxy, {
    get: (target, key) => {
      if (key in target) return Reflect.get(target, key);
      looked += 1;
      return text[Number(key)];
    },
  });
  return { source: source as unknown as string, looked: () => looked };
};

const scanned = (text: string): number => {
  const { source, looked } = watched(text);
  try {
    for (const _ of scanRows(source, ';'));
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_CSV' });
  }
  return looked();
};

describe('scanRows reads each character equally often in a longer text', () => {
  test.each([
    ['quotes', '"'],
    ['empty quoted cells', '"";'],
    ['quotes that open and never close', ';"'],
    ['quoted line breaks', '"\n"\n'],
    ['delimiters', ';'],
    ['line breaks', '\n'],
    ['carriage returns', '\r'],
    ['rows', 'DE136695976;"a ""b"""\r\n'],
    ['letters', 'x'],
    ['spaces behind quotes', '"a"     \n'],
  ])('%s', (_what, piece) => {
    const times = Math.ceil(4_000 / piece.length);
    const short = scanned(piece.repeat(times));
    const long = scanned(piece.repeat(times * 8));
    expect(long).toBeLessThanOrEqual(short * 8 + 100);
    expect(long).toBeLessThanOrEqual(piece.length * times * 8 * 8);
  });
});
