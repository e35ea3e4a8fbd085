import { MEMBER_STATES, newUuid } from '@vat/domain';
import type { World } from '@vat/testkit';
import { uniqueNumber } from './unique-number.js';

/** The maximum of the largest plan (docs/watches.md). */
const PER_ACCOUNT = 50_000;
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
  const accounts = Array.from({ length: Math.max(MIN_ACCOUNTS, Math.ceil(count / PER_ACCOUNT)) }, () => newUuid());
  await sql(
    `INSERT INTO account (id, name, plan, created_at) SELECT unnest($1::uuid[]), 'Bench', 'enterprise', now()`,
    [accounts],
  );
  // Every `step`-th number of each member state is due.
  const step = Math.round(count / due);
  let chosen = 0;
  for (let from = 0; from < count; from += ROWS_PER_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_PER_STATEMENT, count - from) }, (_, i) => {
      const n = from + i;
      const state = MEMBER_STATES[n % MEMBER_STATES.length] ?? 'DE';
      const ordinal = Math.floor(n / MEMBER_STATES.length);
      const isDue = ordinal % step === 0 && chosen < due;
      if (isDue) chosen += 1;
      return {
        id: newUuid(),
        account_id: accounts[n % accounts.length],
        state,
        number: uniqueNumber(state, ordinal),
        due: isDue,
      };
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
