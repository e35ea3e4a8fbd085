import { decideCoverage, gradesFrom, newUuid, newUuidAt, periodOfSupply } from '@vat/domain';
import fc from 'fast-check';
import { newAccount } from '../batch/batch.fixture.js';
import { testDatabase } from '../test-database.fixture.js';
import { findSupplyChecks } from './find-supply-checks.js';

const connected = testDatabase(2);

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01');
const GRADES = ['basic', 'named', 'corroborated', 'qualified', undefined] as const;
const DAYS = 40;

type Recorded = { at: Date; valid: boolean; grade: string | undefined; number: string; test: boolean };

const recorded: fc.Arbitrary<Recorded> = fc
  .record({
    at: fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }),
    valid: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
    grade: fc.constantFrom(...GRADES),
    number: fc.constantFrom('FR1', 'FR2'),
    test: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  })
  .map((check) => ({ ...check, at: new Date(START + check.at) }));

/** The definitions, read from the list of all checks. */
const expectedStatus = (
  checks: readonly Recorded[],
  { number, day, maxAge, minGrade }: { number: string; day: number; maxAge: number; minGrade: 'basic' | 'qualified' },
): string => {
  const before = checks
    .filter((check) => check.number === number && !check.test && check.at.getTime() < START + (day + 1) * DAY_MS)
    .sort((a, b) => a.at.getTime() - b.at.getTime());
  const last = before.at(-1);
  if (!last) return 'missing';
  if (!last.valid) return 'invalid';
  const inTime = before.filter((check) => check.valid && check.at.getTime() >= START + (day - maxAge) * DAY_MS);
  if (inTime.length === 0) return 'stale';
  return inTime.some(({ grade }) => minGrade === 'basic' || grade === minGrade) ? 'covered' : 'weak';
};

test('the statuses of supplies are those of the definitions, for any checks', async () => {
  const law = async (checks: Recorded[], maxAge: number, minGrade: 'basic' | 'qualified') => {
    const accountId = await newAccount(connected.db);
    const distinct = [...new Map(checks.map((check) => [check.at.getTime(), check])).values()];
    await connected.db.check.createMany({
      data: distinct.map(({ at, valid, grade, number, test }) => {
        const evidence_grade = valid ? grade : 'none';
        const body = Buffer.from(
          JSON.stringify({ name: '"evidence_grade":"qualified"', ...(grade && { evidence_grade }) }),
        );
        const id = newUuidAt(at);
        const named = { vatNumber: number, reference: null, checkedAt: at, body, hash: Buffer.alloc(32) };
        return { id, accountId, requestId: newUuid(), test, valid, ...named };
      }),
    });
    const supplies = ['FR1', 'FR2', 'FR3'].flatMap((number) =>
      [0, 1, 7, DAYS - 1].map((day) => ({
        number,
        day,
        date: new Date(START + day * DAY_MS).toISOString().slice(0, 10),
      })),
    );
    const periods = supplies.map(({ number, date }) => periodOfSupply({ vatNumber: number, supplyDate: date }, maxAge));
    const grades = gradesFrom(minGrade);
    const found = await findSupplyChecks(connected.db)(accountId, periods, grades);
    const statuses = found.map((one, n) => decideCoverage(one, periods[n]?.from ?? new Date(0), grades).status);
    expect(statuses).toEqual(
      supplies.map(({ number, day }) => expectedStatus(distinct, { number, day, maxAge, minGrade })),
    );
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(recorded, { maxLength: 12 }),
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom('basic', 'qualified'),
      law,
    ),
    { numRuns: 40 },
  );
});

test('the checks of a number are read once for all of its supplies', async () => {
  const accountId = await newAccount(connected.db);
  const [checks, days] = [2_000, 230];
  // In months without checks of the law above: a small month is read as a whole, with the checks of other accounts.
  const start = Date.parse('2026-05-01');
  const body = JSON.stringify({ name: 'x'.repeat(1_500), evidence_grade: 'named' });
  const times = Array.from({ length: checks }, (_, n) => new Date(start + (n * days * DAY_MS) / checks));
  await connected.db.check.createMany({
    data: times.map((at) => ({
      ...{ id: newUuidAt(at), accountId, requestId: newUuid(), test: false, valid: true, vatNumber: 'FR1' },
      ...{ reference: null, checkedAt: at, body: Buffer.from(body), hash: Buffer.alloc(32) },
    })),
  });
  // What Postgres knows of the table is of the rows before.
  await connected.db.$executeRaw`ANALYZE "check"`;
  const periods = Array.from({ length: days }, (_, day) => {
    const supplyDate = new Date(start + day * DAY_MS).toISOString().slice(0, 10);
    return periodOfSupply({ vatNumber: 'FR1', supplyDate }, 366);
  });
  const read = await connected.db.$transaction(async (tx) => {
    const found = await findSupplyChecks(tx)(accountId, periods, ['qualified']);
    expect(found.map(({ last, strong }) => [last?.grade, strong])).toEqual(periods.map(() => ['named', null]));
    const [rows] = await tx.$queryRaw<{ n: number }[]>`
      SELECT sum(seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_xact_user_tables
      WHERE relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = '"check"'::regclass)`;
    return rows?.n ?? 0;
  });
  expect(read).toBeGreaterThanOrEqual(checks);
  // The last check of each supply, and each check once.
  expect(read).toBeLessThanOrEqual(checks + 2 * days);
});
