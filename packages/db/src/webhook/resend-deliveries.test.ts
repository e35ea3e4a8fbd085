import { createHash } from 'node:crypto';
import {
  type DeliveryState,
  type NewResend,
  newUuid,
  newUuidAt,
  type ResendFilter,
  type ResendLimits,
} from '@vat/domain';
import fc from 'fast-check';
import { testDatabase } from '../test-database.fixture.js';
import { overdueDeliveries } from './deliveries.js';
import { resendDeliveries } from './resend-deliveries.js';

const database = testDatabase(10);
const AT = new Date('2026-11-20T10:00:00.000Z');
const later = (ms: number) => new Date(AT.getTime() + ms);
const NOW = later(3_600_000);
const LIMITS: ResendLimits = { matched: 1_000, counted: 5_000, pending: 2_000, waitMs: 5_000 };

const newAccount = async (): Promise<string> => {
  const id = newUuid();
  await database.db.$executeRaw`
    WITH a AS (
      INSERT INTO account (id, name, plan, created_at) VALUES (${id}::uuid, 'A', 'free', ${AT}::timestamptz) RETURNING id
    )
    INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
    SELECT id, 'https://example.com/', '\\x00', 'whsec_aa', ${AT}::timestamptz FROM a`;
  return id;
};

/** Inserts an event with deliveries in these states, one second apart from `ms` on. Returns the event. */
const insertEvent = async (accountId: string, states: readonly DeliveryState[], ms: number): Promise<string> => {
  const event = newUuidAt(later(ms));
  await database.db.$executeRaw`
    INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    VALUES (${event}::uuid, ${accountId}::uuid, 'check.completed', ${event}::uuid, '{}', false, ${later(ms)}::timestamptz)`;
  for (const [n, state] of states.entries()) {
    const created = later(ms + n * 1_000);
    await database.db.$executeRaw`
      INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, created_at, next_attempt_at)
      SELECT ${newUuidAt(created)}::uuid, account_id, ${event}::uuid, 'check.completed', generation, ${state},
        ${created}::timestamptz, CASE WHEN ${state} = 'pending' THEN ${NOW}::timestamptz END
      FROM webhook WHERE account_id = ${accountId}::uuid`;
  }
  return event;
};

const callOf = (accountId: string, filter: Partial<ResendFilter> = {}, key: string | null = null): NewResend => ({
  id: newUuid(),
  reader: { accountId, testOnly: false },
  filter: { from: AT, to: later(600_000), ...filter },
  now: NOW,
  idempotency: key === null ? null : { key, fingerprint: new Uint8Array(32), expiredBefore: AT },
  answerOf: ({ matched, queued }) => ({ status: 202, headers: {}, body: Buffer.from(`${matched} ${queued}`) }),
});
const resend = (call: NewResend, limits: Partial<ResendLimits> = {}) =>
  resendDeliveries(database.db, { ...LIMITS, ...limits })(call);

/** The number of pending deliveries of each event that has one. */
const pendingByEvent = async (accountId: string): Promise<Record<string, number>> => {
  const rows = await database.db.$queryRaw<{ event: string; n: number }[]>`
    SELECT event_id AS event, count(*)::int AS n FROM delivery
    WHERE account_id = ${accountId}::uuid AND state = 'pending' GROUP BY 1`;
  return Object.fromEntries(rows.map(({ event, n }) => [event, n]));
};
const once = (events: readonly string[]) => Object.fromEntries(events.map((event) => [event, 1]));

test('concurrent identical resends make one pending delivery of each event, and with one key one answer', async () => {
  for (const key of [null, 'key']) {
    const accountId = await newAccount();
    const events: string[] = [];
    for (let n = 0; n < 20; n += 1) events.push(await insertEvent(accountId, ['failed', 'failed'], n * 2_000));
    const results = await Promise.all(Array.from({ length: 6 }, () => resend(callOf(accountId, {}, key))));
    expect(await pendingByEvent(accountId)).toEqual(once(events));
    const queued = results.flatMap((result) => (result.kind === 'resent' ? [result.resent.queued] : []));
    expect(queued.filter((n) => n > 0)).toEqual([20]);
    expect(results.filter(({ kind }) => kind === 'key_taken')).toHaveLength(key === null ? 0 : 5);
  }
});

test('an event is resent at most once, none with a pending delivery; with status failed, if its last delivery failed', async () => {
  const states = fc.constantFrom<DeliveryState>('failed', 'successful', 'pending');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(states, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(undefined, 'failed' as const, 'successful' as const),
      async (log, status) => {
        const accountId = await newAccount();
        const events = new Map<string, readonly DeliveryState[]>();
        for (const [n, made] of log.entries()) events.set(await insertEvent(accountId, made, n * 10_000), made);
        const matches = (state: DeliveryState) => (status === undefined ? state !== 'pending' : state === status);
        const result = await resend(callOf(accountId, { status }));
        const isDue = (made: readonly DeliveryState[]) =>
          made.some(matches) && !made.includes('pending') && (status !== 'failed' || made.at(-1) === 'failed');
        const expected = [...events].filter(([, made]) => isDue(made)).map(([event]) => event);
        const matched = [...events.values()].flat().filter(matches).length;
        expect(result).toMatchObject({ kind: 'resent', resent: { matched, queued: expected.length } });
        const waiting = [...events].filter(([, made]) => made.includes('pending')).map(([event]) => event);
        expect(Object.keys(await pendingByEvent(accountId)).toSorted()).toEqual([...expected, ...waiting].toSorted());
      },
    ),
    { numRuns: 25 },
  );
});

test('new deliveries are due one after the other in the order of their events, and a sweep finds them without a job', async () => {
  const accountId = await newAccount();
  const events: string[] = [];
  for (let n = 0; n < 5; n += 1) events.push(await insertEvent(accountId, ['failed'], n * 1_000));
  const result = await resend(callOf(accountId));
  const due = result.kind === 'resent' ? result.deliveries : [];
  expect(due.map(({ dueAt }) => dueAt.getTime() - NOW.getTime())).toEqual([0, 5, 10, 15, 20]);
  const rows = await database.db.delivery.findMany({ where: { id: { in: due.map(({ id }) => id) } } });
  const eventOf = new Map(rows.map(({ id, eventId }) => [id, eventId]));
  expect(due.map(({ id }) => eventOf.get(id))).toEqual(events);
  for (const row of rows) expect(row).toMatchObject({ eventType: 'check.completed', onDemand: true, attempts: 0 });
  const { toSend } = await overdueDeliveries(database.db)(later(3_700_000), null, 1_000);
  expect(toSend.map(({ id }) => id)).toEqual(expect.arrayContaining(due.map(({ id }) => id)));
});

test('nothing is written beyond the limits, without an endpoint, or while another call of the account is written', async () => {
  const { db } = database;
  const accountId = await newAccount();
  for (let n = 0; n < 4; n += 1) await insertEvent(accountId, ['failed'], n * 1_000);
  expect(await resend(callOf(accountId), { matched: 3 })).toEqual({ kind: 'too_large', matched: 4 });
  expect(await resend(callOf(accountId), { matched: 1, counted: 2 })).toEqual({ kind: 'too_large', matched: 3 });
  expect(await resend(callOf(accountId), { pending: 0 })).toEqual({ kind: 'too_many', pending: 0 });
  const other = newUuid();
  expect(await resend(callOf(other))).toEqual({ kind: 'no_webhook' });
  expect(await pendingByEvent(accountId)).toEqual({});

  const blocking = resend({
    ...callOf(accountId),
    answerOf: () => {
      throw new Error('the process ends');
    },
  });
  await expect(blocking).rejects.toThrow('the process ends');
  expect(await pendingByEvent(accountId)).toEqual({});
  await db.$transaction(async (tx) => {
    const lock = createHash('sha256').update(`resend ${accountId}`).digest().readBigInt64BE();
    await tx.$queryRaw`SELECT true AS taken FROM pg_advisory_xact_lock(${lock}::bigint)`;
    expect(await resend(callOf(accountId), { waitMs: 0 })).toEqual({ kind: 'busy', pending: 0 });
  });
  expect(await resend(callOf(accountId), { waitMs: 0 })).toMatchObject({ kind: 'resent', resent: { queued: 4 } });
});
