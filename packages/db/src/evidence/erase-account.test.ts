import { type NewResend, newUuid, newUuidAt } from '@vat/domain';
import { until } from '@vat/testkit';
import { countWaiting, testDatabase } from '../test-database.fixture.js';
import { resendDeliveries } from '../webhook/resend-deliveries.js';
import { eraseAccount } from './retention.js';

const database = testDatabase(10);
const AT = new Date('2026-11-20T10:00:00.000Z');
const NOW = new Date('2026-11-20T11:00:00.000Z');
const LIMITS = { matched: 1_000, counted: 5_000, pending: 2_000, waitMs: 5_000 };
const KEY = { key: 'live:key', fingerprint: new Uint8Array(32), expiredBefore: AT };

/** A disabled account with an endpoint, and an event whose delivery failed. */
const insertAccount = async (): Promise<string> => {
  const [id, event] = [newUuid(), newUuidAt(AT)];
  await database.db.$executeRaw`
    WITH a AS (
      INSERT INTO account (id, name, plan, created_at, disabled_at) VALUES (${id}::uuid, 'A', 'free', ${AT}, ${AT}) RETURNING id
    ), w AS (
      INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
      SELECT id, 'https://example.com/', '\\x00', 'whsec_aa', ${AT}::timestamptz FROM a
    ), e AS (
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      VALUES (${event}::uuid, ${id}::uuid, 'check.completed', ${event}::uuid, '{}', false, ${AT})
    )
    INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, created_at)
    VALUES (${newUuidAt(AT)}::uuid, ${id}::uuid, ${event}::uuid, 'check.completed', ${newUuid()}::uuid, 'failed', ${AT})`;
  return id;
};

const resendOf = (accountId: string): NewResend => ({
  id: newUuid(),
  reader: { accountId, testOnly: false },
  filter: { from: AT, to: NOW },
  now: NOW,
  idempotency: KEY,
  answerOf: () => ({ status: 202, headers: {}, body: Buffer.from('') }),
});

/** Whether a session waits for bulk resends to be written, which is done by attempts. */
const awaitsResends = async (): Promise<boolean> => {
  const [row] = await database.db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_try_advisory_xact_lock%'`;
  return (row?.n ?? 0) > 0;
};

test('a bulk resend that is being written while its account is erased leaves no delivery', async () => {
  const { db } = database;
  const accountId = await insertAccount();
  let ended = false;
  const started: { resending?: Promise<unknown>; erasing?: Promise<unknown> } = {};
  const blocking = db.$transaction(async (tx) => {
    // The resend waits for this row at its end, after its deliveries.
    await tx.$executeRaw`
      INSERT INTO idempotency_key (account_id, key, fingerprint, created_at, locked_until)
      VALUES (${accountId}::uuid, ${KEY.key}, ${KEY.fingerprint}, ${NOW}::timestamptz, ${NOW}::timestamptz)`;
    started.resending = resendDeliveries(db, LIMITS)(resendOf(accountId));
    await until('the resend to wait', async () => (await countWaiting(db)) === 1);
    started.erasing = eraseAccount(db)(accountId, NOW, NOW).finally(() => {
      ended = true;
    });
    await until('the erasure to go as far as it can', async () => ended || (await awaitsResends()));
    throw new Error('the other call ends');
  });
  await expect(blocking).rejects.toThrow('the other call ends');
  expect(await started.resending).toMatchObject({ kind: 'resent', resent: { queued: 1 } });
  expect(await started.erasing).toMatchObject({ kind: 'erased', events: 1 });
  expect(await db.delivery.count({ where: { accountId } })).toBe(0);
});
