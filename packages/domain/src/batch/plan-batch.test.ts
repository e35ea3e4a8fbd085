import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import type { BatchRow } from './batch.js';
import { planBatch } from './plan-batch.js';

const AT = new Date('2026-11-20T10:00:00.000Z');
const REQUESTER = 'DE136695976';

const rowOf = (candidate: string, over: Partial<BatchRow> = {}): BatchRow => ({
  line: 2,
  cells: [candidate],
  candidate,
  country: null,
  reference: null,
  requester: null,
  ...over,
});
const plan = (rows: BatchRow[], requester: string | null = null) => planBatch({ rows, requester, at: AT });
const errorOf = (row: BatchRow) => plan([row]).lines[0]?.error?.code ?? null;

describe('what ends a line at once', () => {
  test.each([
    ['an empty number cell', rowOf(' \u00a0 '), 'BAD_REQUEST'],
    ['a number without a country', rowOf('123456789'), 'BAD_REQUEST'],
    ['a country that is not covered', rowOf('GB123456789'), 'BAD_REQUEST'],
    ['a country cell that is none', rowOf('123456789', { country: 'Deutschland!' }), 'BAD_REQUEST'],
    ['a number of more than 40 characters', rowOf(`DE${'1'.repeat(39)}`), 'BAD_REQUEST'],
    ['a reference of 65 characters', rowOf('DE136695976', { reference: 'x'.repeat(65) }), 'INVALID_REFERENCE'],
    [
      'one of 65 characters of two code units',
      rowOf('DE136695976', { reference: '😀'.repeat(65) }),
      'INVALID_REFERENCE',
    ],
    ['a reference of two lines', rowOf('DE136695976', { reference: 'a\nb' }), 'INVALID_REFERENCE'],
    ['a requester that is no number', rowOf('DE136695976', { requester: 'me' }), 'INVALID_REQUESTER'],
    ['a requester that is malformed', rowOf('DE136695976', { requester: 'DE12' }), 'INVALID_REQUESTER'],
  ])('%s', (_what, row, code) => {
    const { lines, requests } = plan([row]);
    expect(lines[0]?.error?.code).toBe(code);
    expect(lines[0]?.requestId).toBeNull();
    expect(requests).toEqual([]);
  });

  test.each([
    [rowOf('123456789'), /add it \(such as DE\) or a country column\.$/],
    [rowOf('123456789', { country: 'Utopia' }), /^The country column has no country's code: write one of AT, /],
    [rowOf('4,03033E+10', { country: 'FR' }), /scientific notation, and its last digits may be lost/],
    [rowOf('FR40303265045', { requester: '123456789' }), /country prefix: add it \(such as DE\)\.$/],
    [rowOf('FR40303265045', { country: 'DE' }), /the country column says DE: correct one of the two or empty the cell/],
  ])('the message is in the words of files: %j', (row, message) => {
    expect(plan([row]).lines[0]?.error?.message).toMatch(message);
  });

  test.each([
    ['a number with its country in a cell of its own', rowOf('136695976', { country: 'de' })],
    ['a reference of 64 characters', rowOf('DE136695976', { reference: 'x'.repeat(64) })],
    ['one of 64 characters of two code units', rowOf('DE136695976', { reference: '😀'.repeat(64) })],
    ['a number of 40 characters of two code units', rowOf(`DE${'😀'.repeat(38)}`)],
    [
      'empty cells for reference, country and requester',
      rowOf('DE136695976', { reference: ' ', country: '', requester: '' }),
    ],
    ['a malformed number', rowOf('DE12')],
    ['a number whose checksum does not fit', rowOf('DE136695977')],
  ])('but not %s', (_what, row) => {
    expect(errorOf(row)).toBeNull();
  });
});

test('a malformed number comes with its answer, and needs no lookup', () => {
  const { requests } = plan([rowOf('DE12'), rowOf('DE136695976')]);
  expect(requests.map(({ vatNumber, answer }) => [vatNumber, answer?.verdict ?? null])).toEqual([
    ['DE12', 'malformed'],
    ['DE136695976', null],
  ]);
});

test('malformed numbers that are only shown alike have a check each', () => {
  const { lines } = plan([rowOf('DE12Ä'), rowOf('DE12Ö'), rowOf('DE12Ä')]);
  expect(lines.map(({ vatNumber }) => vatNumber)).toEqual(['DE12?', 'DE12?', 'DE12?']);
  expect(lines[0]?.requestId).toBe(lines[2]?.requestId);
  expect(lines[0]?.requestId).not.toBe(lines[1]?.requestId);
});

test("a line's own requester wins over the batch's", () => {
  const { requests } = plan(
    [rowOf('FR40303265045'), rowOf('FR40303265045', { requester: 'pl 5260001246' })],
    REQUESTER,
  );
  expect(requests.map(({ requester }) => requester)).toEqual([REQUESTER, 'PL5260001246']);
});

test('lines of one number share the request of the first of them', () => {
  const { requests, lines } = plan([
    rowOf('de 136 695 976', { reference: 'first' }),
    rowOf('DE136695976', { reference: 'second' }),
  ]);
  expect(requests).toMatchObject([{ input: 'de 136 695 976', reference: 'first', vatNumber: 'DE136695976' }]);
  expect(lines.map(({ input, reference }) => [input, reference])).toEqual([
    ['de 136 695 976', 'first'],
    ['DE136695976', 'second'],
  ]);
});

test('laws: a line for each row, in order; a request or an error for each line; one request a number and requester', () => {
  const cell = fc.oneof(
    fc.constantFrom(
      'DE136695976',
      'de136695976',
      'DE 136.695.976',
      'FR40303265045',
      'DE12',
      'GB1',
      '',
      '\0',
      '\ud800x',
    ),
    anyText({ maxLength: 50 }),
  );
  const anyRow = fc.record({
    candidate: cell,
    cells: fc.array(cell, { maxLength: 3 }),
    country: fc.constantFrom(null, '', 'DE', 'fr', '??'),
    reference: fc.oneof(fc.constant(null), cell),
    requester: fc.constantFrom(null, '', 'DE136695976', 'nobody'),
  });
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 12 }), fc.constantFrom(null, REQUESTER), (some, requester) => {
      const rows = some.map((row, n) => ({ ...row, line: n + 1 }));
      const { lines, requests } = plan(rows, requester);
      expect(lines.map(({ line }) => line)).toEqual(rows.map(({ line }) => line));
      expect(lines.map(({ id }) => id)).toEqual(lines.map(({ id }) => id).toSorted());
      const known = new Set(requests.map(({ id }) => id));
      for (const line of lines) expect((line.error === null) === known.has(line.requestId ?? '')).toBe(true);
      expect(new Set(lines.flatMap(({ requestId }) => requestId ?? []))).toEqual(known);
      const lookups = requests.filter(({ answer }) => answer === null);
      expect(new Set(lookups.map((request) => `${request.vatNumber} ${request.requester}`)).size).toBe(lookups.length);
      // Postgres keeps neither U+0000 nor lone surrogates, in text or JSON.
      const written = JSON.stringify([lines, requests]);
      expect(written).not.toMatch(/\\u0000|\\ud[89a-f]/i);
    }),
    { numRuns: 500 },
  );
});
