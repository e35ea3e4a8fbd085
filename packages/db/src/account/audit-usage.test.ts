import { randomUUID } from 'node:crypto';
import { newUuid } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { auditUsage } from './usage.js';

// One connection, so that its statistics are those of the audit.
const connected = testDatabase(1, 10_000);

const PERIOD = '2026-11';

/** Inserts requests of an account with their reserved units; `dispatched` and `answered` as given. */
const requests = (accountId: string, count: number, state: string, { dispatched = true, answered = false } = {}) =>
  connected.db.$executeRaw`
    INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
      window_ends_at, due_at, quota_period, fed, answer, check_id)
    SELECT gen_random_uuid(), ${accountId}::uuid, false, ${state}, 'DE1', 'DE', '1', 'DE1', '[]', now(), now(),
      now() + make_interval(secs => n), ${PERIOD}, ${dispatched}, CASE WHEN ${answered} THEN '{}'::jsonb END,
      CASE WHEN ${state} = 'completed' THEN gen_random_uuid() END
    FROM generate_series(1, ${count}::int) AS n`;
const ledger = (accountId: string, count: number, period: string) => connected.db.$executeRaw`
  INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
  SELECT id, ${accountId}::uuid, ${period}, now() FROM unnest(${Array.from({ length: count }, newUuid)}::uuid[]) AS id`;
const account = async (used: number, reserved: number): Promise<string> => {
  const id = randomUUID();
  await connected.db
    .$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${id}::uuid, 'A', 'free', now())`;
  await connected.db.$executeRaw`
    INSERT INTO usage (account_id, period, used, reserved) VALUES (${id}::uuid, ${PERIOD}, ${used}::int, ${reserved}::int)`;
  return id;
};
const audit = (limit = 1_000) => auditUsage(connected.db)(PERIOD, limit);

test('counts all live requests and the usage entries of the month, and returns both kinds of difference', async () => {
  const right = await account(2, 6);
  await ledger(right, 2, PERIOD);
  await ledger(right, 3, '2026-10');
  await requests(right, 1, 'waiting');
  await requests(right, 2, 'pending');
  await requests(right, 1, 'pending', { dispatched: false });
  await requests(right, 2, 'pending', { dispatched: false, answered: true });
  await requests(right, 5, 'completed');
  expect(await audit()).toEqual([]);
  const wrong = await account(1, 0);
  await requests(wrong, 1, 'waiting');
  expect(await audit()).toEqual([
    { accountId: wrong, period: PERIOD, used: 1, consumed: 0, reserved: 0, held: 1, shortfall: 0 },
  ]);
  const uncounted = randomUUID();
  await connected.db
    .$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${uncounted}::uuid, 'A', 'free', now())`;
  await ledger(uncounted, 1, PERIOD);
  expect((await audit()).map(({ accountId }) => accountId)).toEqual([wrong, uncounted].toSorted());
  expect(await audit(1)).toHaveLength(1);
});

test('counts the entries of an account in slices', async () => {
  const busy = await account(30_001, 0);
  await ledger(busy, 15_000, PERIOD);
  await ledger(busy, 5_000, '2026-10');
  await ledger(busy, 15_000, PERIOD);
  expect((await audit()).find(({ accountId }) => accountId === busy)).toMatchObject({ used: 30_001, consumed: 30_000 });
});

test('does not scan the requests and usage entries of ten years', async () => {
  const { db } = connected;
  const old = await account(0, 0);
  await requests(old, 20_000, 'completed');
  await ledger(old, 20_000, '2026-10');
  await db.$executeRaw`
    INSERT INTO account (id, name, plan, created_at) SELECT gen_random_uuid(), 'A', 'free', now() FROM generate_series(1, 450)`;
  await db.$executeRaw`ANALYZE request`;
  await db.$executeRaw`ANALYZE usage_entry`;
  const scans = async () => {
    await db.$queryRaw`SELECT pg_stat_force_next_flush()::text`;
    return db.$queryRaw<unknown[]>`
      SELECT relname, seq_scan::int AS n FROM pg_stat_user_tables WHERE relname IN ('request_future', 'usage_entry_initial') ORDER BY 1`;
  };
  const before = await scans();
  await audit();
  expect(await scans()).toEqual(before);
});
