import { type PlanNode, planFaults } from './plan-faults.mjs';

const ROWS = new Map([
  ['check', 1_000_000],
  ['account', 50],
]);
const KEYS = new Map([['delivery_2026_11', 'id']]);
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
  expect(planFaults(node('Limit', 100, { 'Shared Hit Blocks': 900, Plans: [scan] }), ROWS, KEYS)).toEqual([]);
});

test('reading a large table row by row is a fault, and reading a small one is not', () => {
  const scan = (table: string, rows: number, removed: number) =>
    node('Seq Scan', rows, { 'Relation Name': table, 'Rows Removed by Filter': removed });
  expect(planFaults(node('Aggregate', 1, { Plans: [scan('check', 0, 900_000)] }), ROWS, KEYS)).toEqual([
    'reads check row by row',
  ]);
  expect(planFaults(node('Aggregate', 1, { Plans: [scan('account', 50, 0)] }), ROWS, KEYS)).toEqual([]);
});

test('sorting more than a page is a fault unless it has a reason', () => {
  const plan = node('Limit', 100, { Plans: [node('Sort', 100, { Plans: [node('Index Scan', 5_000)] })] });
  expect(planFaults(plan, ROWS, KEYS)).toEqual(['sorts 5000 rows']);
  expect(planFaults(plan, ROWS, KEYS, { sorted: 5_000, reason: 'bounded elsewhere' })).toEqual([]);
});

test('the pages that a statement may read depend on the rows that it returns, changes or limits', () => {
  const read = { 'Shared Hit Blocks': 2_000, 'Shared Read Blocks': 100 };
  expect(planFaults(node('Index Scan', 1, read), ROWS, KEYS)).toEqual(['reads 2100 pages for 1 rows, more than 625']);
  expect(planFaults(node('Index Scan', 100, read), ROWS, KEYS)).toEqual([]);
  expect(planFaults(node('ModifyTable', 0, { ...read, Plans: [node('Index Scan', 100)] }), ROWS, KEYS)).toEqual([]);
});

test('to choose partitions while the statement runs is a fault in a subquery beside a lock of rows, and below the lock', () => {
  const append = (condition: string, more: Partial<PlanNode> = {}) =>
    node('Append', 1, {
      ...more,
      Plans: [node('Index Scan', 1, { 'Relation Name': 'delivery_2026_11', 'Index Cond': condition })],
    });
  const cte = (name: string, below: PlanNode) => ({
    ...below,
    'Parent Relationship': 'InitPlan',
    'Subplan Name': `CTE ${name}`,
  });
  const locked = (below = node('Index Scan', 1)) => cte('locked', node('LockRows', 1, { Plans: [below] }));
  const faultsOf = (...Plans: PlanNode[]) => planFaults(node('Aggregate', 1, { Plans }), ROWS, KEYS);
  const FAULTS = ['locks rows and chooses partitions while it runs'];
  const changed = (condition: string) => cte('changed', node('ModifyTable', 1, { Plans: [append(condition)] }));

  expect(faultsOf(locked(), changed('(id = locked.id)'))).toEqual(FAULTS);
  expect(faultsOf(locked(), changed('((d.id = (InitPlan 2).col1) AND (id < $1))'))).toEqual(FAULTS);
  for (const fixed of ["(id = '0193'::uuid)", '(id >= $1)', '(id = ANY ((InitPlan 2).col1))', '(event_id = e.id)'])
    expect(faultsOf(locked(), changed(fixed))).toEqual([]);
  const scan = { 'Relation Name': 'delivery_2026_11', 'Index Cond': "(state = 'pending')", Filter: '(id = locked.id)' };
  expect(faultsOf(locked(), cte('changed', node('Append', 1, { Plans: [node('Index Scan', 1, scan)] })))).toEqual(
    FAULTS,
  );
  expect(faultsOf(changed('(id = made.id)'))).toEqual([]);
  expect(faultsOf(locked(), append('(id = locked.id)', { 'Parent Relationship': 'Outer' }))).toEqual([]);
  expect(faultsOf(locked(append('(id = w.id)')))).toEqual(FAULTS);
});
