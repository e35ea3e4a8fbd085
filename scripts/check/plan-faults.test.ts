import { type PlanNode, planFaults } from './plan-faults.mjs';

const ROWS = new Map([
  ['check', 1_000_000],
  ['account', 50],
]);
const node = (type: string, rows: number, more: Partial<PlanNode> = {}): PlanNode => ({
  'Node Type': type,
  'Actual Rows': rows,
  'Actual Loops': 1,
  'Shared Hit Blocks': 3,
  'Shared Read Blocks': 0,
  ...more,
});

test('a plan that reads a page by an index has no faults', () => {
  const scan = node('Index Scan', 100, { 'Relation Name': 'check' });
  expect(planFaults(node('Limit', 100, { 'Shared Hit Blocks': 900, Plans: [scan] }), ROWS)).toEqual([]);
});

test('reading a large table row by row is a fault, and reading a small one is not', () => {
  const scan = (table: string, rows: number, removed: number) =>
    node('Seq Scan', rows, { 'Relation Name': table, 'Rows Removed by Filter': removed });
  expect(planFaults(node('Aggregate', 1, { Plans: [scan('check', 0, 900_000)] }), ROWS)).toEqual([
    'reads check row by row',
  ]);
  expect(planFaults(node('Aggregate', 1, { Plans: [scan('account', 50, 0)] }), ROWS)).toEqual([]);
});

test('sorting more than a page is a fault unless it has a reason', () => {
  const plan = node('Limit', 100, { Plans: [node('Sort', 100, { Plans: [node('Index Scan', 5_000)] })] });
  expect(planFaults(plan, ROWS)).toEqual(['sorts 5000 rows']);
  expect(planFaults(plan, ROWS, { sorted: 5_000, reason: 'bounded elsewhere' })).toEqual([]);
});

test('the pages that a statement may read depend on the rows that it returns, changes or limits', () => {
  const read = { 'Shared Hit Blocks': 2_000, 'Shared Read Blocks': 100 };
  expect(planFaults(node('Index Scan', 1, read), ROWS)).toEqual(['reads 2100 pages for 1 rows, more than 625']);
  expect(planFaults(node('Index Scan', 100, read), ROWS)).toEqual([]);
  expect(planFaults(node('ModifyTable', 0, { ...read, Plans: [node('Index Scan', 100)] }), ROWS)).toEqual([]);
});
