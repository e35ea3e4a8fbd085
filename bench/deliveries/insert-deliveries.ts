import { newUuid, uuidOf } from '@vat/domain';
import { configureWebhook, insertAccount, type World } from '@vat/testkit';
import { exampleBody } from './example-body.js';

/** Inserts one account per URL, with that URL as its endpoint. Returns their ids as UUIDs. */
export const insertEndpoints = async (world: World, urls: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const url of urls) {
    const account = await insertAccount(world);
    await configureWebhook(world, account, url);
    ids.push(uuidOf('account', account.account_id) ?? '');
  }
  return ids;
};

/** Inserts `count` events with their first deliveries, due now, evenly over the accounts. Deletes all earlier ones. */
export const insertDeliveries = async (
  { sql }: Pick<World, 'sql'>,
  accounts: readonly string[],
  count: number,
): Promise<{ id: string; accountId: string; attempt: number; dueAt: Date }[]> => {
  await sql('TRUNCATE delivery_attempt, delivery, event');
  const dueAt = new Date();
  const rows = Array.from({ length: count }, (_, n) => ({
    id: newUuid(),
    event_id: newUuid(),
    account_id: accounts[n % accounts.length] ?? '',
  }));
  const values = [JSON.stringify(rows), dueAt];
  const from = 'FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, event_id uuid, account_id uuid)';
  await sql(
    `INSERT INTO event (position, id, account_id, type, subject_id, body, test, created_at)
     SELECT row_number() OVER (), r.event_id, r.account_id, 'check.completed', r.event_id, $3, false, $2 ${from}`,
    [...values, exampleBody('req_00000000000000000000000000')],
  );
  await sql(
    `INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
     SELECT r.id, r.account_id, r.event_id, w.generation, 'pending', $2, $2
     ${from} JOIN webhook w ON w.account_id = r.account_id`,
    values,
  );
  await sql('ANALYZE delivery, event');
  return rows.map((row) => ({ id: row.id, accountId: row.account_id, attempt: 1, dueAt }));
};
