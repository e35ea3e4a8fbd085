import { hashApiKey, newApiKey, newUuid, publicId } from '@vat/domain';
import type pg from 'pg';

/** An account in the format of the admin command line: its id and its first two keys. */
export type TestAccount = { account_id: string; live_key: string; test_key: string };

/** Queries a world's database. */
export type Sql = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/** Options of an account. By default it has the plan `business` and no user. */
export type AccountOptions = {
  name?: string;
  plan?: string;
  /** Checks per month, instead of the plan's quota. */
  quota?: string;
  /** Its user's address, in lower case; the password is `correct horse`. */
  email?: string;
};

/** Inserts another user of the account that has the user `of`. Addresses are in lower case; the password is `correct horse`. */
export const insertMember = async (
  world: { sql: Sql },
  { of, email, role }: { of: string; email: string; role: string },
): Promise<void> => {
  await world.sql(
    `INSERT INTO app_user (id, account_id, email, password_hash, role, created_at)
     SELECT $1, account_id, $3, password_hash, $4, now() FROM app_user WHERE email = $2`,
    [newUuid(), of, email, role],
  );
};

/** The hash of `correct horse`, computed in advance because hashing is slow. */
const CORRECT_HORSE =
  '$argon2id$v=19$m=19456,t=2,p=1$TjMg9Na12W6Yexnn9inuYA$7rRb8IKa8CEKtKm5ZIKn3zF/kU01lhgn/lZidIVqaTs';

/**
 * Inserts an account directly into the database, which is faster than the admin program: that starts a process and hashes a
 * password for each account.
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
