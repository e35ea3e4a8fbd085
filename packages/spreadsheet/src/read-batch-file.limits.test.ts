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
    ['without a header', ''],
    ['among blank lines', ';\r\n\r\nvat;name\r\n;;;\r\n'],
  ])('accepts exactly 10 000 rows %s, and not one more', (_what, front) => {
    expect(readBatchFile(utf8(front + rows(10_000))).rows).toHaveLength(10_000);
    expect(codeOf(front + rows(10_001))).toBe('TOO_MANY_ROWS');
  });

  test('gives up on an endless file without reading the rest', () => {
    expect(codeOf(`${rows(10_002)}"never closed`)).toBe('TOO_MANY_ROWS');
  });

  test('accepts 1 000 columns and a cell of 32 767 characters', () => {
    const cells = 'x;'.repeat(998) + 'y'.repeat(32_767);
    expect(readBatchFile(utf8(`vat\nDE136695976;${cells}\n`)).width).toBe(1_000);
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

/** A string that counts how many of its characters are looked at, whichever way. */
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

describe('scanRows looks at no character more often for a longer text', () => {
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
