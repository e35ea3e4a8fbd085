import { hashApiKey, newApiKey, newUuid, publicId } from '@vat/domain';
import type pg from 'pg';

/** An account as the admin command line gives it: its id and the two keys it began with. */
export type TestAccount = { account_id: string; live_key: string; test_key: string };

/** A way to query a world's database. */
export type Sql = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/**
 * An account without a user, written straight into the database: a test that needs ten of them need not wait for ten
 * passwords to be hashed.
 */
export const insertAccount = async (world: { sql: Sql }): Promise<TestAccount> => {
  const id = newUuid();
  const [live, test] = [newApiKey(false), newApiKey(true)];
  await world.sql(
    `WITH account AS (INSERT INTO account (id, name, plan, created_at) VALUES ($1, 'Test', 'business', now()) RETURNING id)
     INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     SELECT k.id, account.id, 'Test', k.test, k.hash, k.hint, now()
     FROM account, unnest($2::uuid[], $3::bool[], $4::bytea[], $5::text[]) AS k(id, test, hash, hint)`,
    [id, [newUuid(), newUuid()], [false, true], [hashApiKey(live), hashApiKey(test)], [live.slice(-4), test.slice(-4)]],
  );
  return { account_id: publicId('account', id), live_key: live, test_key: test };
};
