import { type ClonedDatabase, cloneDatabase, openSql } from '@vat/testkit';
import { connectDatabase, type Database, pingDatabase } from './connect-database.js';
import { explainDatabaseFailure } from './explain-database-failure.js';

let cloned: ClonedDatabase;
beforeAll(async () => {
  cloned = await cloneDatabase();
  const { sql, close } = openSql(cloned.url);
  await sql('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await close();
});
afterAll(() => cloned?.drop());

describe.each([
  ['without Prisma', (db: Database) => pingDatabase(db)().then(() => db.$queryRaw`SELECT id FROM account`)],
  ['by Prisma', (db: Database) => db.account.findMany({ take: 1 })],
])('a statement that is run %s', (_how, work) => {
  test.each([
    ['a port at which nobody listens', { port: '1' }, /^Postgres does not answer at DATABASE_URL/],
    ['a name that does not exist', { pathname: '/nobody' }, /^The database that .* does not exist/],
    ['a database without tables', {}, /run "admin migrate"\.$/],
    ['a user that does not exist', { username: 'nobody' }, /^Postgres refuses the login/],
  ])('is explained for %s', async (_what, change, sentence) => {
    const { db, close } = connectDatabase({
      ...{ url: Object.assign(new URL(cloned.url), change).href, maxConnections: 1, applicationName: 'explained' },
      ...{ queryTimeoutMs: 5_000, connectTimeoutMs: 5_000 },
    });
    const failure = await work(db).then(
      () => null,
      (error: unknown) => error,
    );
    await close();
    expect(explainDatabaseFailure(failure)).toMatch(sentence);
  });
});

test('other errors are not explained', () => {
  expect(
    [new Error('x'), { code: '23505' }, null, 'ECONNREFUSED'].map((error) => explainDatabaseFailure(error)),
  ).toEqual([...[null, null, null, null]]);
});
