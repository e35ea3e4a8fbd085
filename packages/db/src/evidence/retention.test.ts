import { newUuid, newUuidAt } from '@vat/domain';
import { testDatabase } from '../test-database.fixture.js';
import { deleteOldEvidence } from './retention.js';

const database = testDatabase(2);
const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-20T10:00:00.000Z');
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

/** A request that was answered 202 and ended, its event and a delivery of it. */
const insertEnded = async (request: {
  created: Date;
  ended: Date;
  delivery: 'pending' | 'successful';
}): Promise<{ account: string; requestId: string }> => {
  const { created, ended, delivery } = request;
  const [account, requestId, eventId] = [newUuid(), newUuidAt(created), newUuidAt(ended)];
  await database.db.$executeRaw`
    WITH r AS (
      INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
        window_ends_at, due_at, ended_at, accepted_at, give_up_at, reason)
      VALUES (${requestId}::uuid, ${account}::uuid, false, 'abandoned', 'DE1', 'DE', '1', 'DE1', '[]', ${created}, ${created},
        ${created}, ${ended}, ${created}, ${ended}, 'UPSTREAM_NO_ANSWER')
    ), e AS (
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      VALUES (${eventId}::uuid, ${account}::uuid, 'check.failed', ${requestId}::uuid, '{}', false, ${ended})
    )
    INSERT INTO delivery (id, account_id, event_id, event_type, state, created_at, next_attempt_at)
    VALUES (${newUuidAt(ended)}::uuid, ${account}::uuid, ${eventId}::uuid, 'check.failed', ${delivery}, ${ended},
      CASE WHEN ${delivery} = 'pending' THEN ${ended}::timestamptz END)`;
  return { account, requestId };
};

test.each([
  ['that ended a minute ago', { created: ago(DAY_MS + 120_000), ended: ago(60_000), delivery: 'successful' }, true],
  ['whose event is still delivered', { created: ago(40 * DAY_MS), ended: ago(39 * DAY_MS), delivery: 'pending' }, true],
  ['that ended long ago', { created: ago(40 * DAY_MS), ended: ago(39 * DAY_MS), delivery: 'successful' }, false],
] as const)('a request %s: stays %s', async (_title, request, stays) => {
  const { db } = database;
  const { account: accountId, requestId: id } = await insertEnded(request);
  await deleteOldEvidence(db)(ago(DAY_MS));
  const left = stays ? 1 : 0;
  expect(await db.request.count({ where: { id } })).toBe(left);
  expect(await db.event.count({ where: { accountId } })).toBe(left);
  expect(await db.delivery.count({ where: { accountId } })).toBe(left);
});
