import { MEMBER_STATES, newUuid } from '@vat/domain';
import type { World } from '@vat/testkit';
import { numberAt, stateAt } from './unique-number.js';

/** Inserts accounts of the largest plan. Returns their ids. */
export const insertAccounts = async ({ sql }: Pick<World, 'sql'>, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newUuid());
  await sql(
    `INSERT INTO account (id, name, plan, created_at) SELECT unnest($1::uuid[]), 'Bench', 'enterprise', now()`,
    [ids],
  );
  return ids;
};

/** The maximum number of pending requests of an account (docs/api.md). */
const PENDING_PER_ACCOUNT = 200;

/**
 * Inserts `count` accepted requests, evenly over all member states and over as many accounts as needed, as if each had just
 * been answered 202: with its reserved unit, due at once.
 */
export const insertBacklog = async ({ sql }: Pick<World, 'sql'>, count: number): Promise<void> => {
  const now = new Date();
  const period = now.toISOString().slice(0, 7);
  const accounts = await insertAccounts({ sql }, Math.ceil(count / PENDING_PER_ACCOUNT));
  await sql('INSERT INTO usage (account_id, period, used, reserved) SELECT unnest($1::uuid[]), $2, 0, $3', [
    accounts,
    period,
    PENDING_PER_ACCOUNT,
  ]);
  const rows = Array.from({ length: count }, (_, n) => ({
    ...{ id: newUuid(), account_id: accounts[n % accounts.length], state: stateAt(n), number: numberAt(n) },
  }));
  await sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at, quota_period)
     SELECT r.id, r.account_id, false, 'pending', r.number, r.state, substr(r.number, 3), r.number, '[]', $2, $2, $2,
       $2::timestamptz + interval '24 hours', $2, $3
     FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, account_id uuid, state text, number text)`,
    [JSON.stringify(rows), now, period],
  );
};

/** The maximum of the largest plan (docs/watches.md). */
const WATCHES_PER_ACCOUNT = 50_000;
const MIN_ACCOUNTS = 20;
const ROWS_PER_STATEMENT = 50_000;

/**
 * Inserts `count` daily watches, evenly over the member states and over as many accounts as needed. `due` of them, also evenly
 * distributed, are due now, the others at random times of the next day.
 */
export const insertWatches = async (
  { sql }: Pick<World, 'sql'>,
  { count, due }: { count: number; due: number },
): Promise<void> => {
  const accounts = await insertAccounts({ sql }, Math.max(MIN_ACCOUNTS, Math.ceil(count / WATCHES_PER_ACCOUNT)));
  // Every `step`-th number of each member state is due.
  const step = Math.round(count / due);
  let chosen = 0;
  for (let from = 0; from < count; from += ROWS_PER_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_PER_STATEMENT, count - from) }, (_, i) => {
      const n = from + i;
      const isDue = Math.floor(n / MEMBER_STATES.length) % step === 0 && chosen < due;
      if (isDue) chosen += 1;
      const account_id = accounts[n % accounts.length];
      return { id: newUuid(), account_id, state: stateAt(n), number: numberAt(n), due: isDue };
    });
    await sql(
      `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at,
         next_check_at)
       SELECT r.id, r.account_id, r.number, r.state, substr(r.number, 3), r.number, 'daily', 'active', now(),
         now() + CASE WHEN r.due THEN interval '-1 minute' ELSE random() * interval '23 hours' + interval '1 hour' END
       FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, account_id uuid, state text, number text, due boolean)`,
      [JSON.stringify(rows)],
    );
  }
  await sql('VACUUM ANALYZE watch');
};
