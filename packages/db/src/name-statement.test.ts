import { newUuid, newUuidAt } from '@vat/domain';
import { Prisma } from './generated/client.js';
import { nameStatement } from './name-statement.js';
import { isOneOf } from './query.js';
import { findRequest } from './request/requests.js';
import { testDatabase } from './test-database.fixture.js';

const connected = testDatabase(1);

/** A function that names statements, with a clock that the test sets. */
const startNaming = () => {
  const clock = { ms: 0 };
  const name = nameStatement(() => clock.ms);
  const runTimes = (sql: string, count: number) => Array.from({ length: count }, () => name({ sql })).at(-1);
  return { clock, runTimes };
};

test('a frequent statement always has the same name, and another text another one', () => {
  const { clock, runTimes } = startNaming();
  const first = runTimes('SELECT id FROM request WHERE id = $1', 10);
  expect(first).toMatch(/^vat_[0-9a-f]{24}$/);
  clock.ms += 3_600_000;
  expect(runTimes('SELECT id FROM request WHERE id = $1', 1)).toBe(first);
  const other = runTimes('SELECT id FROM request WHERE id > $1', 10);
  expect([typeof other, other === first]).toEqual(['string', false]);
});

test('a statement that runs less than ten times a minute has no name', () => {
  const { clock, runTimes } = startNaming();
  for (let minutes = 0; minutes < 100; minutes += 1) {
    expect(runTimes('SELECT 1', 9)).toBeUndefined();
    clock.ms += 60_000;
  }
  expect(runTimes('SELECT 1', 10)).toBeDefined();
});

test.each(['SELECT * FROM account', 'UPDATE request r SET state = $1 RETURNING r.*'])(
  'a statement whose columns depend on the table has no name: %s',
  (sql) => {
    expect(startNaming().runTimes(sql, 100)).toBeUndefined();
  },
);

test('the number of named statements is limited', () => {
  const { runTimes } = startNaming();
  const named = Array.from({ length: 2_000 }, (_, n) => runTimes(`SELECT ${n}`, 10)).filter(Boolean);
  expect(named).toHaveLength(500);
});

test('statements that have not run for a day give their names to those of a new month, and used ones keep theirs', () => {
  const { clock, runTimes } = startNaming();
  const used = runTimes('SELECT id FROM request WHERE id = $1', 10);
  for (let n = 0; n < 499; n += 1) runTimes(`SELECT ${n}`, 10);
  expect(runTimes('SELECT 500', 10)).toBeUndefined();
  clock.ms += 24 * 3_600_000;
  expect(runTimes('SELECT id FROM request WHERE id = $1', 1)).toBe(used);
  clock.ms += 1;
  expect(runTimes('SELECT 500', 10)).toBeDefined();
  expect(runTimes('SELECT id FROM request WHERE id = $1', 1)).toBe(used);
});

test('made-up ids of many months use no names up, and statements of the next month have one', () => {
  const { runTimes } = startNaming();
  const idOf = (year: number, month: number) => newUuidAt(new Date(Date.UTC(year, month, 15)));
  const textOf = (id: string) => Prisma.sql`SELECT id FROM request WHERE ${isOneOf(Prisma.sql`id`, [id])}`.text;
  const texts = Array.from({ length: 600 }, (_, n) => textOf(idOf(2100 + Math.floor(n / 12), n % 12)));
  expect(new Set(texts).size).toBe(600);
  for (const sql of texts) runTimes(sql, 10);
  for (const months of [-12, -1, 0, 1]) {
    const now = new Date();
    expect(runTimes(textOf(idOf(now.getUTCFullYear(), now.getUTCMonth() + months)), 10)).toBeDefined();
  }
});

test('a repeated statement stays prepared, and works after a migration added a column', async () => {
  const find = findRequest(connected.db);
  for (let n = 0; n < 20; n += 1) expect(await find(newUuid())).toBeNull();
  const prepared = await connected.db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE ${'%FROM request r JOIN account%'}`;
  expect(prepared).toEqual([{ n: 1 }]);
  await connected.db.$executeRaw`ALTER TABLE request ADD COLUMN added_later TEXT`;
  expect(await find(newUuid())).toBeNull();
});
