import { hashApiKey, newApiKey, newUuid, publicId } from '@vat/domain';
import type pg from 'pg';

/** An account as the admin command line gives it: its id and the two keys it began with. */
export type TestAccount = { account_id: string; live_key: string; test_key: string };

/** A way to query a world's database. */
export type Sql = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/** What an account is to be: of the plan business and without a user, unless told. */
export type AccountOptions = {
  name?: string;
  plan?: string;
  /** Checks a month instead of the plan's. */
  quota?: string;
  /** Its user's address, in lower case; the password is `correct horse`. */
  email?: string;
};

/** What the service makes of `correct horse`: verified like any other, and hashed here once for all. */
const CORRECT_HORSE =
  '$argon2id$v=19$m=19456,t=2,p=1$TjMg9Na12W6Yexnn9inuYA$7rRb8IKa8CEKtKm5ZIKn3zF/kU01lhgn/lZidIVqaTs';

/**
 * An account written straight into the database: a test that needs ten of them need not wait for ten processes and ten
 * passwords to be hashed.
 */
export const insertAccount = async (
  world: { sql: Sql },
  { name = 'Test', plan = 'business', quota, email }: AccountOptions = {},
): Promise<TestAccount> => {
  const id = newUuid();
  const [live, test] = [newApiKey(false), newApiKey(true)];
  await world.sql(
    `WITH account AS (
       INSERT INTO account (id, name, plan, monthly_quota, created_at) VALUES ($1, $6, $7, $8::int, now()) RETURNING id
     ), app_user AS (
       INSERT INTO app_user (id, account_id, email, password_hash, created_at)
       SELECT $9::uuid, account.id, $10, $11, now() FROM account WHERE $10::text IS NOT NULL
     )
     INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     SELECT k.id, account.id, 'Test', k.test, k.hash, k.hint, now()
     FROM account, unnest($2::uuid[], $3::bool[], $4::bytea[], $5::text[]) AS k(id, test, hash, hint)`,
    [
      id,
      [newUuid(), newUuid()],
      [false, true],
      [hashApiKey(live), hashApiKey(test)],
      [live.slice(-4), test.slice(-4)],
      name,
      plan,
      quota ?? null,
      newUuid(),
      email ?? null,
      CORRECT_HORSE,
    ],
  );
  return { account_id: publicId('account', id), live_key: live, test_key: test };
};
