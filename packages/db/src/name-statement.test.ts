import { newUuid } from '@vat/domain';
import { nameStatement } from './name-statement.js';
import { findRequest } from './request/requests.js';
import { testDatabase } from './test-database.fixture.js';

const connected = testDatabase(1);

test('the same statement has the same name, and another text another one', () => {
  const name = nameStatement();
  const first = name({ sql: 'SELECT id FROM request WHERE id = $1' });
  expect(first).toMatch(/^vat_[0-9a-f]{24}$/);
  expect(name({ sql: 'SELECT id FROM request WHERE id = $1' })).toBe(first);
  expect(name({ sql: 'SELECT id FROM request WHERE id > $1' })).not.toBe(first);
});

test.each(['SELECT * FROM account', 'UPDATE request r SET state = $1 RETURNING r.*'])(
  'a statement whose columns depend on the table has no name: %s',
  (sql) => {
    expect(nameStatement()({ sql })).toBeUndefined();
  },
);

test('the number of named statements is limited', () => {
  const name = nameStatement();
  const named = Array.from({ length: 2_000 }, (_, n) => name({ sql: `SELECT ${n}` })).filter(Boolean);
  expect(named).toHaveLength(500);
});

test('a repeated statement stays prepared, and works after a migration added a column', async () => {
  const find = findRequest(connected.db);
  for (let n = 0; n < 8; n += 1) expect(await find(newUuid())).toBeNull();
  const prepared = await connected.db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE ${'%FROM request r JOIN account%'}`;
  expect(prepared).toEqual([{ n: 1 }]);
  await connected.db.$executeRaw`ALTER TABLE request ADD COLUMN added_later TEXT`;
  expect(await find(newUuid())).toBeNull();
});
