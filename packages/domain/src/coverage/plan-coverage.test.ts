import type { NewBatchRequest, NewLine } from '../batch/batch.js';
import { selectNumbers } from '../batch/pack-plan.js';
import { AppError } from '../errors.js';
import { planCoverage, type SupplyRow } from './plan-coverage.js';

const AT = new Date('2026-11-20T10:00:00.000Z');

const row = (
  line: number,
  candidate: string,
  supplyDate = '31.10.2026',
  reference: string | null = null,
): SupplyRow => ({
  ...{ line, candidate, supplyDate, reference, country: null, requester: null },
  cells: [candidate, supplyDate],
});

const rowsOf = <Row>(texts: readonly string[] = []): Row[] => texts.flatMap((text) => JSON.parse(text) as Row[]);

const refusalOf = (rows: SupplyRow[]): unknown => {
  try {
    planCoverage(rows, { withGaps: false, at: AT });
  } catch (error) {
    return error instanceof AppError ? [error.code, error.extra, error.message] : error;
  }
  return null;
};

test('lines keep what is wrong with their number or reference; their date is read', () => {
  const { lines, gaps } = planCoverage(
    [
      row(2, 'FR 40 303 265 045', '2026-10-31', 'R-1'),
      row(3, '12345678'),
      row(4, ''),
      row(5, 'DE123', '1.2.2026', 'x'.repeat(65)),
    ],
    { withGaps: false, at: AT },
  );
  expect(gaps).toBeNull();
  expect(
    lines.map(({ line, vatNumber, supplyDate, reference, error }) => [
      line,
      vatNumber,
      supplyDate,
      reference,
      error?.code,
    ]),
  ).toEqual([
    [2, 'FR40303265045', '2026-10-31', 'R-1', undefined],
    [3, null, '2026-10-31', null, 'BAD_REQUEST'],
    [4, null, '2026-10-31', null, 'BAD_REQUEST'],
    [5, 'DE123', '2026-02-01', null, 'INVALID_REFERENCE'],
  ]);
});

test('a date that cannot be read refuses the file, with its line', () => {
  const rows = [row(2, 'FR40303265045'), row(9, 'FR40303265045', '12/31/2026')];
  expect(refusalOf(rows)).toEqual(['INVALID_CSV', { line: 9 }, expect.stringMatching(/^Line 9: .*as in the USA/)]);
  expect(refusalOf([row(3, 'FR40303265045', '')])).toEqual([
    'INVALID_CSV',
    { line: 3 },
    expect.stringMatching(/no supply/),
  ]);
  expect(refusalOf([row(4, 'FR40303265045', '26/12/31')])).toEqual([
    'INVALID_CSV',
    { line: 4 },
    expect.stringMatching(/read as 2031-12-26, more than two years ahead/),
  ]);
});

test('the batch of gaps has each uncovered number once, and no line that cannot be checked', async () => {
  const { gaps } = planCoverage(
    [
      row(2, 'FR40303265045'),
      row(3, 'FR 40 303 265 045'),
      row(4, 'ATU33803803'),
      row(5, '12345678'),
      row(6, 'IT00159560366'),
      row(7, 'DE1'),
    ],
    { withGaps: true, at: AT },
  );
  const selected = gaps && (await selectNumbers(gaps, new Set(['FR40303265045', 'IT00159560366', 'DE1'])));
  expect(rowsOf<NewLine>(selected?.lines).map(({ line, vatNumber, cells }) => [line, vatNumber, cells])).toEqual([
    [2, 'FR40303265045', ['FR40303265045']],
    [6, 'IT00159560366', ['IT00159560366']],
    [7, 'DE1', ['DE1']],
  ]);
  expect(rowsOf<NewBatchRequest>(selected?.requests).map(({ vatNumber }) => vatNumber)).toEqual([
    'FR40303265045',
    'IT00159560366',
    'DE1',
  ]);
  expect(selected).toMatchObject({
    counts: { lines: 3, failed: 0, costing: 2 },
    queues: [
      { queue: 'FR', requests: 1 },
      { queue: 'IT', requests: 1 },
      { queue: 'malformed', requests: 1 },
    ],
  });
});

test('the batch of gaps has a number whose line names an unusable requester, and says so', async () => {
  const { gaps } = planCoverage([{ ...row(2, 'FR40303265045'), requester: 'nobody' }], { withGaps: true, at: AT });
  const selected = gaps && (await selectNumbers(gaps, new Set(['FR40303265045'])));
  expect(rowsOf<NewLine>(selected?.lines)).toMatchObject([
    { line: 2, vatNumber: 'FR40303265045', requestId: null, error: { code: 'INVALID_REQUESTER' } },
  ]);
  expect(selected).toMatchObject({ requests: [], counts: { lines: 1, failed: 1, costing: 0 }, queues: [] });
});

test('a batch of gaps without an uncovered number is empty', async () => {
  const { gaps } = planCoverage([row(2, 'FR40303265045')], { withGaps: true, at: AT });
  expect(gaps && (await selectNumbers(gaps, new Set()))).toEqual({
    lines: [],
    requests: [],
    counts: { lines: 0, failed: 0, costing: 0 },
    queues: [],
  });
});
