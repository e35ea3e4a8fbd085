import { readFileSync } from 'node:fs';
import path from 'node:path';
import { newUuid } from '@vat/domain';
import { cloneDatabase } from '@vat/testkit';
import pg from 'pg';

const BACKFILL = path.resolve(
  import.meta.dirname,
  '../../../../prisma/migrations/20261125010100_event_types_of_earlier_deliveries/migration.sql',
);

test('deliveries that an earlier release inserted, or inserts, have the type of their event', async () => {
  const database = await cloneDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const ids = Array.from({ length: 4_100 }, newUuid);
    await client.query(
      `INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
       SELECT id, $2, CASE WHEN n % 2 = 0 THEN 'check.failed' ELSE 'watch.changed' END, id, '{}', false, now()
       FROM unnest($1::uuid[]) WITH ORDINALITY AS e(id, n)`,
      [ids, newUuid()],
    );
    // In the statement of the event, as an earlier release does for a test event.
    await client.query(
      `WITH published AS (
         INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
         VALUES ($1, $2, 'webhook.test', $1, '{}', false, now()) RETURNING id, account_id
       )
       INSERT INTO delivery (id, account_id, event_id, state, created_at)
       SELECT id, account_id, id, 'failed', now() FROM published`,
      [newUuid(), newUuid()],
    );
    await client.query(
      `INSERT INTO delivery (id, account_id, event_id, state, created_at) SELECT id, account_id, id, 'failed', now() FROM event
       WHERE type <> 'webhook.test'`,
    );
    const wrong = `
      SELECT count(*)::int AS n FROM delivery d JOIN event e ON e.id = d.event_id WHERE d.event_type IS DISTINCT FROM e.type`;
    expect((await client.query(wrong)).rows).toEqual([{ n: 0 }]);
    await client.query('UPDATE delivery SET event_type = NULL');
    await client.query(readFileSync(BACKFILL, 'utf8'));
    expect((await client.query(wrong)).rows).toEqual([{ n: 0 }]);
    expect((await client.query('SELECT count(*)::int AS n FROM delivery')).rows).toEqual([{ n: 4_101 }]);
  } finally {
    await client.end();
    await database.drop();
  }
});
