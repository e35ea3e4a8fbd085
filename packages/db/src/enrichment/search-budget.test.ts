import { testDatabase } from '../test-database.fixture.js';
import { searchBudget } from './search-budget.js';

const database = testDatabase(8);
const DAY = '2026-11-20';
const NEXT_DAY = '2026-11-21';

const takeAtOnce = (source: 'pl_white_list' | 'gleif', count: number, limit: number) =>
  Promise.all(Array.from({ length: count }, () => searchBudget(database.db).take(source, DAY, limit)));

test('concurrent calls never exceed the searches of a day', async () => {
  const permits = await takeAtOnce('pl_white_list', 40, 25);
  expect(permits.filter((permit) => permit === 'taken')).toHaveLength(25);
  expect(permits.filter((permit) => permit === 'exhausted')).toHaveLength(15);
});

test('the next day starts at zero, and a process whose clock is behind does not restore the old day', async () => {
  const budget = searchBudget(database.db);
  expect(await budget.take('pl_white_list', NEXT_DAY, 1)).toBe('taken');
  expect(await budget.take('pl_white_list', NEXT_DAY, 1)).toBe('exhausted');
  expect(await budget.take('pl_white_list', DAY, 100)).toBe('exhausted');
  expect(await budget.take('pl_white_list', NEXT_DAY, 1)).toBe('exhausted');
});

test('a block applies to all processes until the next day, even if searches are left', async () => {
  const budget = searchBudget(database.db);
  await budget.block('gleif', DAY);
  expect(await takeAtOnce('gleif', 3, 100)).toEqual(['blocked', 'blocked', 'blocked']);
  expect(await budget.take('gleif', NEXT_DAY, 100)).toBe('taken');
  await budget.block('gleif', DAY);
  expect(await budget.take('gleif', NEXT_DAY, 100)).toBe('taken');
  expect(await budget.take('gleif', '2026-11-22', 0)).toBe('exhausted');
});
