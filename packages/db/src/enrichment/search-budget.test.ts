import { newUuid, type SearchPermit } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { searchBudget } from './search-budget.js';

const database = testDatabase(8);
const DAY = '2026-11-20';
const NEXT_DAY = '2026-11-21';

type Search = { source?: 'pl_white_list' | 'gleif' | 'cz_ares'; day?: string; limit: number; accountId?: string };

const ACCOUNT = newUuid();
const take = ({ source = 'pl_white_list', day = DAY, limit, accountId = ACCOUNT }: Search) =>
  searchBudget(database.db).take({ source, day, limit, accountId });

const takeAtOnce = (count: number, search: Search) => Promise.all(Array.from({ length: count }, () => take(search)));

test('concurrent calls never exceed the searches of a day', async () => {
  const permits = await takeAtOnce(40, { limit: 25 });
  expect(permits.filter((permit) => permit === 'taken')).toHaveLength(25);
  expect(permits.filter((permit) => permit === 'exhausted')).toHaveLength(15);
});

test('the next day starts at zero, and a process whose clock is behind does not restore the old day', async () => {
  expect(await take({ day: NEXT_DAY, limit: 1 })).toBe('taken');
  expect(await take({ day: NEXT_DAY, limit: 1 })).toBe('exhausted');
  expect(await take({ day: DAY, limit: 100 })).toBe('exhausted');
  expect(await take({ day: NEXT_DAY, limit: 1 })).toBe('exhausted');
});

test('a block applies to all processes until the next day, even if searches are left', async () => {
  const budget = searchBudget(database.db);
  const search = { source: 'gleif', limit: 100 } as const;
  await budget.block('gleif', DAY);
  expect(await takeAtOnce(3, search)).toEqual(['blocked', 'blocked', 'blocked']);
  expect(await take({ ...search, day: NEXT_DAY })).toBe('taken');
  await budget.block('gleif', DAY);
  expect(await take({ ...search, day: NEXT_DAY })).toBe('taken');
  expect(await take({ ...search, day: '2026-11-22', limit: 0 })).toBe('exhausted');
});

describe('accounts share the searches of a day', () => {
  const [large, small] = [newUuid(), newUuid()];

  /** How many of `count` searches are permitted, one after the other. */
  const takeInTurn = async (accountId: string, day: string, count: number) => {
    const permits: SearchPermit[] = [];
    for (let made = 0; made < count; made += 1)
      permits.push(await take({ source: 'cz_ares', day, limit: 10, accountId }));
    return permits.filter((permit) => permit === 'taken').length;
  };

  test('what one requested on its last day is kept for it, up to an equal share; nothing else is', async () => {
    expect(await takeInTurn(large, '2026-12-01', 12)).toBe(10);
    expect(await takeInTurn(small, '2026-12-01', 3)).toBe(0);

    expect(await takeInTurn(large, '2026-12-02', 12)).toBe(7);
    expect(await takeInTurn(small, '2026-12-02', 8)).toBe(3);

    expect(await takeInTurn(large, '2026-12-03', 12)).toBe(5);
    expect(await takeInTurn(small, '2026-12-03', 2)).toBe(2);
    expect(await takeInTurn(large, '2026-12-03', 12)).toBe(0);
    expect(await takeInTurn(small, '2026-12-03', 12)).toBe(3);
  });

  test('nothing is kept for an account that has requested none for days; it gets its share of what is left', async () => {
    expect(await takeInTurn(large, '2026-12-07', 6)).toBe(6);
    expect(await takeInTurn(small, '2026-12-07', 6)).toBe(4);
    expect(await takeInTurn(large, '2026-12-11', 12)).toBe(10);
  });

  test('more accounts than searches: one each, as long as there are any', async () => {
    const accounts = Array.from({ length: 15 }, newUuid);
    await Promise.all(accounts.map((accountId) => takeInTurn(accountId, '2027-01-01', 2)));
    const permitted = await Promise.all(accounts.map((accountId) => takeInTurn(accountId, '2027-01-02', 2)));
    expect(permitted.toSorted()).toEqual([...Array<number>(5).fill(0), ...Array<number>(10).fill(1)]);
  });
});
