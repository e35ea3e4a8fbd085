import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CoverageLine, DOCUMENT_LANGUAGES, type DocumentLanguage } from '@vat/domain';
import { getDocumentProxy } from 'unpdf';
import { coverageReportPdf } from './coverage-report-pdf.js';
import { REPORT_TEXTS } from './report-texts.js';

const AT = new Date('2026-11-20T14:00:00.123Z');

const lineOf = (n: number, reference: string): CoverageLine => ({
  ...{ id: '0195f1e2-0000-7000-8000-000000000018', line: n + 2, status: 'missing', check: null, error: null },
  ...{ input: 'DE136695976', vatNumber: 'DE136695976', supplyDate: '2026-10-31', reference },
});

const draw = (lines: AsyncIterable<CoverageLine>, language: DocumentLanguage = 'en'): Promise<Uint8Array> => {
  const coverage = {
    ...{ id: '0195f1e2-0000-7000-8000-000000000017', label: null, fileName: null, batchId: null, maxAgeDays: 30 },
    ...{ minGrade: 'basic' as const, createdAt: AT },
    ...{ covered: 0, stale: 0, weak: 0, invalid: 0, missing: 300, total: 300 },
  };
  return coverageReportPdf({ coverage, lines, language, issuedAt: AT, serviceUrl: 'https://vat.example' });
};

async function* linesWith(count: number, referenceOf: (n: number) => string): AsyncGenerator<CoverageLine> {
  for (let n = 0; n < count; n += 1) yield lineOf(n, referenceOf(n));
}

/** Sixty-four characters that no font of the page has, different ones for each line. */
const unprintable = (n: number): string =>
  String.fromCodePoint(...Array.from({ length: 64 }, (_, at) => 0x4e00 + ((n * 64 + at) % 20_000)));

test('a long reference takes several lines within its column, and only one beyond every limit is cut', async () => {
  const spoken = 'Order 2026-000123 of the branch in Luxembourg, second consignment';
  const references = ['W'.repeat(64), spoken, unprintable(1), 'A-1'];
  const bytes = await draw(linesWith(references.length, (n) => references[n] ?? ''));
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { items } = await (await document.getPage(2)).getTextContent();
  await document.destroy();
  const placed = items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item] : []));
  const left = placed.find(({ str }) => str === 'Reference')?.transform[4];
  const column = placed.filter(({ transform }) => transform[4] === left).slice(1);
  for (const { transform, width } of column) expect(transform[4] + width).toBeLessThanOrEqual(48 + 499);
  const lines = column.map(({ str }) => str);
  const wide = lines.filter((line) => /^W+$/.test(line));
  expect(wide.join('')).toBe(references[0]);
  expect(wide.length).toBeGreaterThan(1);
  expect(lines.join(' ')).toContain(spoken);
  expect(lines.filter((line) => line.endsWith('…'))).toHaveLength(1);
  // Each row begins below the last line of the one before.
  const heights = column.map(({ transform }) => transform[5]);
  expect([...heights].sort((a, b) => b - a)).toEqual(heights);
});

test.each(DOCUMENT_LANGUAGES)('shares have the decimal sign of the language (%s)', async (language) => {
  const bytes = await draw(linesWith(0, String), language);
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { items } = await (await document.getPage(1)).getTextContent();
  await document.destroy();
  const shares = items.flatMap((item) => ('str' in item ? (/\d+[.,]\d %/.exec(item.str) ?? []) : []));
  const zero = language === 'en' ? '0.0 %' : '0,0 %';
  expect(shares).toEqual([zero, zero, zero, zero, language === 'en' ? '100.0 %' : '100,0 %']);
});

test.each<[DocumentLanguage, string[]]>([
  ['en', ['0 of 3 supplies are', '1 of 3 supplies is', '2 of 3 supplies are', '1 of 1 supply is']],
  ['de', ['0 von 3 Lieferungen sind', '1 von 3 Lieferungen ist', '2 von 3 Lieferungen sind', '1 von 1 Lieferung ist']],
  [
    'fr',
    [
      '0 livraison sur 3 est couverte',
      '1 livraison sur 3 est',
      '2 livraisons sur 3 sont couvertes',
      '1 livraison sur 1',
    ],
  ],
  ['it', ['0 cessioni su 3 sono coperte', '1 cessione su 3 è coperta', '2 cessioni su 3 sono', '1 cessione su 1 è']],
  [
    'es',
    ['0 de 3 entregas están cubiertas', '1 de 3 entregas está cubierta', '2 de 3 entregas', '1 de 1 entrega está'],
  ],
  ['pl', [': 0 z 3.', ': 1 z 3.', ': 2 z 3.', ': 1 z 1.']],
  ['nl', ['0 van 3 leveringen zijn', '1 van 3 leveringen is', '2 van 3 leveringen zijn', '1 van 1 levering is']],
])('the summary agrees with its numbers (%s)', (language, expected) => {
  const { summary } = REPORT_TEXTS[language];
  const sentences = [summary(0, 3), summary(1, 3), summary(2, 3), summary(1, 1)];
  expect(sentences).toEqual(expected.map((part) => expect.stringContaining(part)));
  expect(summary(1_234, 5_678)).toMatch(/1\u00a0234 .*5\u00a0678/);
});

test('the memory for a report does not grow with its lines', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const used: number[] = [];
  const referenceOf = (n: number): string => {
    if (n === 50 || n === 290) {
      collectGarbage();
      used.push(process.memoryUsage().heapUsed);
    }
    return `${n}-`.padEnd(64, 'reference');
  };
  await draw(linesWith(300, referenceOf));
  const [early = 0, late = 0] = used;
  expect(used).toHaveLength(2);
  expect(late - early).toBeLessThan(5_000_000);
});
