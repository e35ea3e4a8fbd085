import { packPlan } from './pack-plan.js';
import { planBatch } from './plan-batch.js';

const AT = new Date('2026-11-20T10:00:00.000Z');
const planOf = (candidates: string[], note = '') =>
  planBatch({
    rows: candidates.map((candidate, n) => ({
      ...{ line: n + 1, cells: [candidate, note], candidate },
      ...{ country: null, reference: null, requester: null },
    })),
    requester: null,
    at: AT,
  });
const rowsOf = (texts: readonly string[]): object[] => texts.flatMap((text) => JSON.parse(text) as object[]);

test('a packed plan has every row in its order, and what its file costs', () => {
  const plan = planOf(['DE136695976', 'DE1', '', 'FR40303265045', 'DE136695976']);
  const packed = packPlan(plan);
  expect(rowsOf(packed.lines)).toEqual(plan.lines);
  expect(rowsOf(packed.requests)).toEqual(JSON.parse(JSON.stringify(plan.requests)));
  expect(packed).toMatchObject({
    counts: { lines: 5, failed: 1, costing: 2 },
    queues: [
      { queue: 'DE', requests: 1 },
      { queue: 'malformed', requests: 1 },
      { queue: 'FR', requests: 1 },
    ],
  });
});

test('a text has at most 250 rows and 400 000 characters, except for a single row', () => {
  expect(packPlan(planOf(Array.from({ length: 501 }, () => ''))).lines.map((text) => rowsOf([text]).length)).toEqual([
    250, 250, 1,
  ]);
  const long = packPlan(planOf(['', '', '', '', ''], 'x'.repeat(150_000))).lines;
  expect(long.map((text) => rowsOf([text]).length)).toEqual([2, 2, 1]);
  expect(packPlan(planOf(['', ''], 'x'.repeat(500_000))).lines).toHaveLength(2);
});
