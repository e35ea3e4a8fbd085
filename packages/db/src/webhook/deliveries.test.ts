import { randomUUID } from 'node:crypto';
import {
  type DeliveryState,
  type DueCursor,
  type LoggedAttempt,
  newUuid,
  readPages,
  WEBHOOK_REMOVED,
} from '@vat/domain';
import type { Database } from '../connect-database.js';
import { testDatabase } from '../test-database.fixture.js';
import { findDelivery, overdueDeliveries } from './deliveries.js';
import { claimDelivery, recordAttempt, releaseDelivery } from './delivery-attempts.js';
import { deleteOldDeliveries, endRemovedDeliveries, endRemovedOfAccount } from './delivery-retention.js';
import { resendDelivery, sendTestEvent } from './events.js';
import { removeWebhook } from './webhooks.js';

const database = testDatabase(10);
let db: Database;
beforeAll(() => {
  ({ db } = database);
});

const AT = new Date('2026-11-20T10:00:00.000Z');
const after = (ms: number) => new Date(AT.getTime() + ms);

const setWebhook = (accountId: string) => db.$executeRaw`
  INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
  VALUES (${accountId}::uuid, 'https://example.com/', decode('00', 'hex'), 'whsec_aa', ${AT}::timestamptz)`;

/** A due delivery of a new account. */
const delivery = async () => {
  const accountId = randomUUID();
  const deliveryId = newUuid();
  await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${accountId}::uuid, 'Told', 'free', ${AT}::timestamptz)`;
  await setWebhook(accountId);
  const event = { id: newUuid(), type: 'webhook.test' as const, body: '{"event":"webhook.test"}' };
  expect(await sendTestEvent(db, 10)({ accountId, test: false, event, deliveryId, now: AT })).toEqual({ kind: 'made' });
  return { accountId, deliveryId };
};
const claim = (deliveryId: string, number: number, now: Date) =>
  claimDelivery(db)({ deliveryId, number, now, leasedUntil: new Date(now.getTime() + 1_000) });
const attempt = (number: number, statusCode: number): LoggedAttempt => ({
  number,
  at: AT,
  url: 'https://example.com/',
  statusCode,
  durationMs: 12,
  error: null,
  address: '192.0.2.1',
  timings: { dns_ms: null, tcp_ms: 1, tls_ms: 2, first_byte_ms: 3, total_ms: 12 },
  answer: Buffer.from('no\0'),
  answerTruncated: false,
});
const record = (deliveryId: string, number: number, state: DeliveryState, leasedUntil = after(1_000)) =>
  recordAttempt(db)({
    deliveryId,
    attempt: attempt(number, state === 'successful' ? 204 : 500),
    plan: { state, nextAttemptAt: state === 'pending' ? after(30_000) : null },
    leasedUntil,
  });

test('one of many concurrent claims of an attempt succeeds; the others return when to retry', async () => {
  const { deliveryId } = await delivery();
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim(deliveryId, 1, AT)));
  expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  expect(claims.filter(({ kind }) => kind === 'not_yet')).toEqual(
    Array.from({ length: 9 }, () => ({ kind: 'not_yet', at: after(1_000) })),
  );
});

test('concurrent claims and records each have their own result', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, delivery));
  const [claimOne, recordOne] = [claimDelivery(db), recordAttempt(db)];
  const twice = [...made, ...made];
  const claims = await Promise.all(
    twice.map(({ deliveryId }) => claimOne({ deliveryId, number: 1, now: AT, leasedUntil: after(1_000) })),
  );
  expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(made.length);
  expect(claims.filter(({ kind }) => kind === 'not_yet')).toHaveLength(made.length);
  const recorded = await Promise.all(
    twice.map(({ deliveryId }, n) =>
      recordOne({
        deliveryId,
        attempt: { ...attempt(1, 204), answer: Buffer.from(String(n % made.length)) },
        plan: { state: 'successful', nextAttemptAt: null },
        leasedUntil: after(1_000),
      }),
    ),
  );
  expect(recorded.filter(Boolean)).toHaveLength(made.length);
  for (const [n, { deliveryId, accountId }] of made.entries()) {
    const found = await findDelivery(db)(deliveryId, { accountId, testOnly: false });
    expect(found).toMatchObject({ state: 'successful', attempts: 1 });
    expect(found?.log.map(({ answer }) => Buffer.from(answer).toString())).toEqual([String(n)]);
  }
});

test('a claim can be taken over when its lease has expired, or at once after its release', async () => {
  const { deliveryId } = await delivery();
  expect(await claim(deliveryId, 1, AT)).toMatchObject({ kind: 'claimed' });
  expect(await claim(deliveryId, 1, after(999))).toMatchObject({ kind: 'not_yet' });
  expect(await claim(deliveryId, 1, after(1_000))).toMatchObject({ kind: 'claimed' });
  const release = (leasedUntil: Date) => releaseDelivery(db)({ deliveryId, number: 1, leasedUntil });
  // The first holder's lease has expired: what it releases is no longer its claim.
  await release(after(1_000));
  expect(await claim(deliveryId, 1, after(1_001))).toMatchObject({ kind: 'not_yet' });
  await release(after(2_000));
  expect(await claim(deliveryId, 1, after(1_001))).toMatchObject({ kind: 'claimed' });
});

test('the next attempt waits for a worker that took the attempt over from one that records it late', async () => {
  const { deliveryId } = await delivery();
  await claim(deliveryId, 1, AT);
  const takenOver = after(29_500);
  expect(await claim(deliveryId, 1, takenOver)).toMatchObject({ kind: 'claimed' });
  expect(await record(deliveryId, 1, 'pending')).toBe(true);
  expect(await claim(deliveryId, 2, after(30_000))).toEqual({ kind: 'not_yet', at: after(30_500) });
  expect(await record(deliveryId, 1, 'pending', after(30_500))).toBe(false);
  expect(await claim(deliveryId, 2, after(30_500))).toMatchObject({ kind: 'claimed' });
});

test('an attempt that is recorded twice counts once, and its log entry stays as it is', async () => {
  const { accountId, deliveryId } = await delivery();
  const recorded = await Promise.all([1, 2, 3].map(() => record(deliveryId, 1, 'pending')));
  expect(recorded.filter(Boolean)).toHaveLength(1);
  expect(await findDelivery(db)(deliveryId, { accountId, testOnly: false })).toMatchObject({
    state: 'pending',
    attempts: 1,
    nextAttemptAt: after(30_000),
    last: { at: AT, statusCode: 500, durationMs: 12, error: null },
    log: [{ ...attempt(1, 500), answer: expect.any(Uint8Array) }],
  });
});

test('an attempt cannot be claimed before it is due, after it was made, or when the delivery has ended', async () => {
  const { deliveryId } = await delivery();
  await record(deliveryId, 1, 'pending');
  expect(await claim(deliveryId, 1, after(60_000))).toEqual({ kind: 'settled' });
  expect(await claim(deliveryId, 2, after(29_999))).toEqual({ kind: 'not_yet', at: after(30_000) });
  expect(await claim(deliveryId, 2, after(30_000))).toMatchObject({ kind: 'claimed' });
  await record(deliveryId, 2, 'successful');
  expect(await claim(deliveryId, 3, after(90_000))).toEqual({ kind: 'settled' });
});

test('an attempt that ends after the removal of its endpoint is logged and changes nothing', async () => {
  const { accountId, deliveryId } = await delivery();
  await claim(deliveryId, 1, AT);
  expect(await removeWebhook(db)(accountId, after(10))).toBe(true);
  expect(await removeWebhook(db)(accountId, after(11))).toBe(false);
  const ended = { state: 'failed', nextAttemptAt: null, last: { at: after(10), error: WEBHOOK_REMOVED } };
  expect(await findDelivery(db)(deliveryId, { accountId, testOnly: false })).toMatchObject({
    ...ended,
    attempts: 0,
    log: [],
  });
  expect(await record(deliveryId, 1, 'successful')).toBe(true);
  expect(await findDelivery(db)(deliveryId, { accountId, testOnly: false })).toMatchObject({
    ...ended,
    attempts: 1,
    log: [{ number: 1, statusCode: 204 }],
  });
});

test('removals end more than ten thousand deliveries, and none of a new endpoint or another account', async () => {
  const [removed, other] = [await delivery(), await delivery()];
  await db.$executeRaw`
    INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
    SELECT gen_random_uuid(), d.account_id, d.event_id, d.generation, 'pending', d.created_at, d.next_attempt_at
    FROM delivery d, generate_series(1, 10600) WHERE d.id = ${removed.deliveryId}::uuid`;
  const pendingOf = ({ accountId }: { accountId: string }) =>
    db.delivery.count({ where: { accountId, state: 'pending' } });
  expect(await removeWebhook(db)(removed.accountId, after(10))).toBe(true);
  // On a slow machine the four seconds of a removal end before all deliveries have.
  while ((await pendingOf(removed)) > 0) await removeWebhook(db)(removed.accountId, after(10));
  expect(await pendingOf(other)).toBe(1);

  await setWebhook(removed.accountId);
  const event = { id: newUuid(), type: 'webhook.test' as const, body: '{}' };
  await sendTestEvent(db, 10)({ accountId: removed.accountId, test: false, event, deliveryId: newUuid(), now: AT });
  expect(await endRemovedOfAccount(db)(after(20), removed.accountId, 10)).toBe(0);
  expect(await pendingOf(removed)).toBe(1);
});

test('a removal that ended with its process is completed by the next call, which finds no endpoint', async () => {
  const [interrupted, other] = [await delivery(), await delivery()];
  await db.$executeRaw`DELETE FROM webhook WHERE account_id = ${interrupted.accountId}::uuid`;
  expect(await removeWebhook(db)(interrupted.accountId, after(10))).toBe(false);
  const reader = { accountId: interrupted.accountId, testOnly: false };
  expect(await findDelivery(db)(interrupted.deliveryId, reader)).toMatchObject({
    state: 'failed',
    last: { at: after(10), error: WEBHOOK_REMOVED },
  });
  expect(await db.delivery.count({ where: { accountId: other.accountId, state: 'pending' } })).toBe(1);
});

test('a delivery of a removed endpoint is not sent to a new one, even if the removal missed it', async () => {
  const { accountId, deliveryId } = await delivery();
  const other = await delivery();
  await db.$executeRaw`DELETE FROM webhook WHERE account_id = ${accountId}::uuid`;
  await setWebhook(accountId);
  expect(await claim(deliveryId, 1, AT)).toMatchObject({ kind: 'claimed', attempt: { endpoint: null } });
  expect(await endRemovedDeliveries(db)(AT, [other.deliveryId])).toBe(0);
  expect(await endRemovedDeliveries(db)(AT, [other.deliveryId, deliveryId])).toBe(1);
  expect(await findDelivery(db)(deliveryId, { accountId, testOnly: false })).toMatchObject({
    state: 'failed',
    last: { error: WEBHOOK_REMOVED },
  });
  const newDeliveryId = newUuid();
  const reader = { accountId, testOnly: false };
  expect(await resendDelivery(db, 10)({ deliveryId, reader, newDeliveryId, now: AT })).toEqual({ kind: 'made' });
  expect(await claim(newDeliveryId, 1, AT)).toMatchObject({
    kind: 'claimed',
    attempt: { endpoint: { url: 'https://example.com/' } },
  });
});

test('old ended deliveries are deleted with their attempts and test events; pending ones and other events stay', async () => {
  const [old, pending, other] = [await delivery(), await delivery(), await delivery()];
  await db.$executeRaw`
    UPDATE event SET type = 'check.failed' WHERE id = (SELECT event_id FROM delivery WHERE id = ${other.deliveryId}::uuid)`;
  for (const { deliveryId } of [old, other]) await record(deliveryId, 1, 'successful');
  const left = async ({ accountId, deliveryId }: typeof old) => {
    const [counts] = await db.$queryRaw<Record<'deliveries' | 'attempts' | 'events', number>[]>`
      SELECT (SELECT count(*)::int FROM delivery WHERE id = ${deliveryId}::uuid) AS deliveries,
        (SELECT count(*)::int FROM delivery_attempt WHERE delivery_id = ${deliveryId}::uuid) AS attempts,
        (SELECT count(*)::int FROM event WHERE account_id = ${accountId}::uuid) AS events`;
    return counts;
  };
  await deleteOldDeliveries(db)(AT);
  expect(await left(old)).toEqual({ deliveries: 1, attempts: 1, events: 1 });
  await deleteOldDeliveries(db)(after(1));
  expect(await left(old)).toEqual({ deliveries: 0, attempts: 0, events: 0 });
  expect(await left(pending)).toEqual({ deliveries: 1, attempts: 0, events: 1 });
  expect(await left(other)).toEqual({ deliveries: 0, attempts: 0, events: 1 });
});

test('due deliveries are listed oldest first, each once, whatever the page size', async () => {
  await db.$executeRaw`DELETE FROM delivery`;
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await delivery()).deliveryId);
  const seen: string[] = [];
  const later = after(1);
  let pages = 0;
  for await (const { toSend } of readPages((from: DueCursor | null) => overdueDeliveries(db)(later, from, 2))) {
    pages += 1;
    seen.push(...toSend.map(({ id }) => id));
  }
  expect(pages).toBe(3);
  expect(seen).toEqual(ids.toSorted());
  expect(await overdueDeliveries(db)(AT, null, 10)).toEqual({ toSend: [], toHold: [], toEnd: [], next: null });
});

test('the statement of a claim is prepared once for many', async () => {
  for (let n = 0; n < 20; n += 1) expect(await claim(newUuid(), 1, AT)).toEqual({ kind: 'settled' });
  const prepared = await db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE ${'%SET held = a.disabled_at%'}`;
  expect(prepared).toEqual([{ n: 1 }]);
});

test('a delivery that is written while its event expires is deleted when it is due', async () => {
  const { accountId, deliveryId } = await delivery();
  await record(deliveryId, 1, 'failed');
  const resent = newUuid();
  await db.$transaction(async (tx) => {
    // As a bulk resend, whose transaction may last for seconds.
    await tx.$executeRaw`
      INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, on_demand, created_at, next_attempt_at)
      SELECT ${resent}::uuid, account_id, event_id, event_type, generation, 'pending', true, ${AT}::timestamptz, ${AT}::timestamptz
      FROM delivery WHERE id = ${deliveryId}::uuid`;
    await deleteOldDeliveries(db)(after(1));
  });
  expect(await claim(resent, 1, AT)).toEqual({ kind: 'settled' });
  expect(await db.delivery.count({ where: { accountId } })).toBe(0);
});
