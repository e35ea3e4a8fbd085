import { MEMBER_STATES, newUuid } from '@vat/domain';
import type { World } from '@vat/testkit';
import { uniqueNumber } from './unique-number.js';

/** The maximum number of pending requests of an account (docs/api.md). */
const PER_ACCOUNT = 200;

/**
 * Inserts `count` accepted requests, evenly over all member states and over as many accounts as needed, as if each had just
 * been answered 202: with its reserved unit, due at once.
 */
export const insertBacklog = async ({ sql }: Pick<World, 'sql'>, count: number): Promise<void> => {
  const now = new Date();
  const period = now.toISOString().slice(0, 7);
  const accounts = Array.from({ length: Math.ceil(count / PER_ACCOUNT) }, () => newUuid());
  await sql(`INSERT INTO account (id, name, plan, created_at) SELECT unnest($1::uuid[]), 'Bench', 'enterprise', $2`, [
    accounts,
    now,
  ]);
  await sql('INSERT INTO usage (account_id, period, used, reserved) SELECT unnest($1::uuid[]), $2, 0, $3', [
    accounts,
    period,
    PER_ACCOUNT,
  ]);
  const rows = Array.from({ length: count }, (_, i) => {
    const state = MEMBER_STATES[i % MEMBER_STATES.length] ?? 'DE';
    const number = uniqueNumber(state, Math.floor(i / MEMBER_STATES.length));
    return { id: newUuid(), account_id: accounts[i % accounts.length], state, number };
  });
  await sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at, quota_period)
     SELECT r.id, r.account_id, false, 'pending', r.number, r.state, substr(r.number, 3), r.number, '[]', $2, $2, $2,
       $2::timestamptz + interval '24 hours', $2, $3
     FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, account_id uuid, state text, number text)`,
    [JSON.stringify(rows), now, period],
  );
};
