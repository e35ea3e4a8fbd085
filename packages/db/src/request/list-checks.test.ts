import { newUuid, newUuidAt } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { type CheckFilter, listChecks } from './checks.js';

const connected = testDatabase(2, 10_000);

const START = Date.UTC(2026, 9, 1);
const HOUR_MS = 3_600_000;
const account = newUuid();

/** Checks of a month, hourly. Ids of earlier releases are up to ten minutes younger than the answer. */
const CHECKS = Array.from({ length: 600 }, (_, n) => {
  const checkedAt = new Date(START + n * HOUR_MS);
  return {
    id: newUuidAt(new Date(checkedAt.getTime() + (n % 4 === 0 ? 599_000 : 0))),
    test: n % 7 === 0,
    vatNumber: `FR${n % 5}`,
    valid: n % 3 !== 0,
    reference: n % 2 === 0 ? `order-${n % 8}` : null,
    checkedAt,
  };
});

beforeAll(async () => {
  const { db } = connected;
  await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${account}::uuid, 'A', 'free', now())`;
  const rows = CHECKS.map(({ vatNumber: vat_number, checkedAt: checked_at, ...row }) => ({
    ...{ ...row, vat_number, checked_at },
    request_id: newUuid(),
  }));
  await db.$executeRaw`
    INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, reference, checked_at, body, hash)
    SELECT id, ${account}::uuid, request_id, test, vat_number, valid, reference, checked_at, '', sha256('')
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(id uuid, request_id uuid, test bool, vat_number text,
      valid bool, reference text, checked_at timestamptz)`;
});

const matches = (check: (typeof CHECKS)[number], { vatNumber, valid, from, to, reference }: CheckFilter): boolean =>
  (vatNumber === undefined || check.vatNumber === vatNumber) &&
  (valid === undefined || check.valid === valid) &&
  (from === undefined || check.checkedAt >= from) &&
  (to === undefined || check.checkedAt < to) &&
  (reference === undefined || check.reference === reference);

const PARTS: CheckFilter[] = [
  { vatNumber: 'FR1' },
  { valid: false },
  { from: new Date(START + 100 * HOUR_MS) },
  { to: new Date(START + 400 * HOUR_MS) },
  { reference: 'order-2' },
];
const FILTERS = Array.from(
  { length: 2 ** PARTS.length },
  (_, chosen): CheckFilter => Object.assign({}, ...PARTS.filter((_part, n) => (chosen >> n) & 1)),
);

test.each([
  ['live', false],
  ['test', true],
] as const)('pages of any filter hold what matches, newest first, for a %s key', async (_mode, testOnly) => {
  for (const filter of FILTERS) {
    const expected = CHECKS.filter((check) => (check.test || !testOnly) && matches(check, filter))
      .map(({ id }) => id)
      .toSorted()
      .reverse();
    const listed: string[] = [];
    for (let last: string | null | undefined = null; last !== undefined; ) {
      const page = await listChecks(connected.db)({ accountId: account, testOnly }, filter, last, 40);
      listed.push(...page.map(({ id }) => id));
      last = page.at(-1)?.id;
    }
    expect([filter, listed]).toEqual([filter, expected]);
  }
});
