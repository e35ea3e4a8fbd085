import { randomUUID } from 'node:crypto';
import { type DueDelivery, newUuid, sweepDeliveries } from '@vat/domain';
import fc from 'fast-check';
import { testDatabase } from '../test-database.fixture.js';
import { findPendingDeliveries, listDeliveries, overdueDeliveries } from './deliveries.js';
import { claimDelivery } from './delivery-attempts.js';
import { endRemovedDeliveries, holdDeliveries, resumeDeliveries } from './delivery-retention.js';
import { resendDelivery, sendTestEvent } from './events.js';

const database = testDatabase(10);
const AT = new Date('2026-11-20T10:00:00.000Z');
const later = (ms: number) => new Date(AT.getTime() + ms);

const newAccount = async ({ disabled = false } = {}): Promise<string> => {
  const id = randomUUID();
  await database.db.$executeRaw`
    INSERT INTO account (id, name, plan, created_at, disabled_at)
    VALUES (${id}::uuid, 'A', 'free', ${AT}::timestamptz, ${disabled ? AT : null}::timestamptz)`;
  await database.db.$executeRaw`
    INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
    VALUES (${id}::uuid, 'https://example.com/', decode('00', 'hex'), 'whsec_aa', ${AT}::timestamptz)`;
  return id;
};
const setDisabled = (id: string, at: Date | null) =>
  database.db.account.update({ where: { id }, data: { disabledAt: at } });

/** Inserts pending deliveries of an account, due one millisecond apart from `AT` on; returns their ids in that order. */
const deliveries = async (accountId: string, count: number, test = false): Promise<string[]> => {
  const ids = Array.from({ length: count }, newUuid);
  await database.db.$executeRaw`
    WITH published AS (
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      SELECT r.id, ${accountId}::uuid, 'webhook.test', r.id, '{}', ${test}, ${AT}::timestamptz
      FROM unnest(${ids}::uuid[]) AS r(id)
    )
    INSERT INTO delivery (id, account_id, event_id, generation, state, test, created_at, next_attempt_at)
    SELECT r.id, ${accountId}::uuid, r.id, w.generation, 'pending', ${test}, ${AT}::timestamptz,
      ${AT}::timestamptz + (r.n - 1) * interval '1 millisecond'
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS r(id, n), webhook w WHERE w.account_id = ${accountId}::uuid`;
  return ids;
};

/** A worker's sweep at a time when all deliveries are overdue; `jobs` receives what it would enqueue. */
const sweeping = (jobs: DueDelivery[]) => {
  const { db } = database;
  const overdue = overdueDeliveries(db);
  let read = 0;
  const sweep = sweepDeliveries({
    overdue: async (...args) => {
      const page = await overdue(...args);
      read += page.toSend.length + page.toHold.length + page.toEnd.length;
      return page;
    },
    hold: holdDeliveries(db),
    resume: resumeDeliveries(db),
    endRemoved: endRemovedDeliveries(db),
    withoutJob: async (deliveries) => deliveries.map(({ id }) => id),
    findPending: findPendingDeliveries(db),
    enqueueLate: async (some) => void jobs.push(...some),
    now: () => later(60_000),
  });
  return async (everything = false) => {
    read = 0;
    return { ...(await sweep({ everything })), read };
  };
};

const explain = async (sql: string): Promise<string> => {
  const rows = await database.db.$queryRawUnsafe<Record<string, string>[]>(`EXPLAIN ${sql}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
};

describe('deliveries of a disabled account', () => {
  afterEach(() => database.db.$executeRaw`TRUNCATE delivery CASCADE`);

  test('are read by one sweep only, however many there are; those of others get their jobs', async () => {
    const [disabled, other] = [await newAccount({ disabled: true }), await newAccount()];
    await deliveries(disabled, 1_200);
    const others = await deliveries(other, 3);
    const jobs: DueDelivery[] = [];
    const sweep = sweeping(jobs);
    expect(await sweep()).toEqual({ deliveries: 3, removed: 0, held: 1_200, resumed: 0, read: 1_203 });
    expect(jobs.map(({ id }) => id).sort()).toEqual(others.toSorted());
    expect(await sweep(true)).toEqual({ deliveries: 3, removed: 0, held: 0, resumed: 0, read: 3 });
  });

  test('resume in parts once it is enabled, earliest due first, each once, with unchanged time and attempt', async () => {
    const account = await newAccount({ disabled: true });
    const ids = await deliveries(account, 1_200);
    await database.db.$executeRaw`UPDATE delivery SET attempts = 2 WHERE id = ${ids[7]}::uuid`;
    const jobs: DueDelivery[] = [];
    await sweeping(jobs)(true);
    expect(jobs).toEqual([]);
    await setDisabled(account, null);
    const resume = resumeDeliveries(database.db);
    const parts = [await resume(500), await resume(500), await resume(500), await resume(500)];
    expect(parts.map(({ length }) => length)).toEqual([500, 500, 200, 0]);
    expect(parts.flat()).toEqual(
      ids.map((id, n) => ({ id, accountId: account, attempt: n === 7 ? 3 : 1, dueAt: later(n) })),
    );
  });

  test('resume once when two processes resume them concurrently', async () => {
    const account = await newAccount({ disabled: true });
    const ids = await deliveries(account, 300);
    await sweeping([])();
    await setDisabled(account, null);
    const resumed = (await Promise.all(Array.from({ length: 6 }, () => resumeDeliveries(database.db)(50)))).flat();
    expect(new Set(resumed.map(({ id }) => id)).size).toBe(resumed.length);
    const rest = await resumeDeliveries(database.db)(1_000);
    expect([...resumed, ...rest].map(({ id }) => id).sort()).toEqual(ids.toSorted());
  });

  test('cannot be claimed until it is enabled, and their attempts and time do not change', async () => {
    const account = await newAccount({ disabled: true });
    const [id = ''] = await deliveries(account, 1);
    const claim = () =>
      claimDelivery(database.db)({ deliveryId: id, number: 1, now: later(10), leasedUntil: later(1_000) });
    expect(await claim()).toEqual({ kind: 'held' });
    expect(await claim()).toEqual({ kind: 'held' });
    expect(await database.db.delivery.findUnique({ where: { id } })).toMatchObject({
      state: 'pending',
      attempts: 0,
      nextAttemptAt: AT,
      leasedUntil: null,
    });
    await setDisabled(account, null);
    expect(await claim()).toMatchObject({ kind: 'claimed' });
    expect(await database.db.delivery.findUnique({ where: { id } })).toMatchObject({ held: false });
  });
});

test('concurrent test events, resends and ends never exceed the limit, and none is refused below it', async () => {
  const { db } = database;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.constantFrom('test', 'resend'), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 3 }),
      async (limit, calls, ended) => {
        const accountId = await newAccount();
        const [old = ''] = await deliveries(accountId, 1);
        const [send, resend] = [sendTestEvent(db, limit), resendDelivery(db, limit)];
        const make = (what: string) => {
          const id = newUuid();
          const event = { id: newUuid(), type: 'webhook.test' as const, body: '{}' };
          return what === 'test'
            ? send({ accountId, test: false, event, deliveryId: id, now: AT })
            : resend({ deliveryId: old, reader: { accountId, testOnly: false }, newDeliveryId: id, now: AT });
        };
        const made = async () => (await Promise.all(calls.map(make))).filter(({ kind }) => kind === 'made').length;
        expect(await made()).toBe(Math.min(limit, calls.length));
        const pending = Math.min(limit, calls.length);
        const freed = await db.$executeRaw`
          UPDATE delivery SET state = 'failed', next_attempt_at = NULL WHERE id IN (
            SELECT id FROM delivery WHERE account_id = ${accountId}::uuid AND on_demand LIMIT ${ended}::int)`;
        expect(await made()).toBe(Math.min(limit - pending + freed, calls.length));
      },
    ),
    { numRuns: 15 },
  );
});

test('a test key sees only test deliveries, in the same order, whatever the page size; a resend of one is one', async () => {
  const { db } = database;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (modes, limit) => {
        const accountId = await newAccount();
        const made: { id: string; test: boolean }[] = [];
        for (const test of modes) {
          const [id = ''] = await deliveries(accountId, 1, test);
          const newDeliveryId = newUuid();
          const reader = { accountId, testOnly: test };
          await resendDelivery(db, 100)({ deliveryId: id, reader, newDeliveryId, now: AT });
          made.unshift({ id: newDeliveryId, test }, { id, test });
        }
        for (const testOnly of [true, false]) {
          const seen: string[] = [];
          for (let before: string | null = null; ; before = seen.at(-1) ?? null) {
            const page = await listDeliveries(db)({ accountId, testOnly }, {}, before, limit);
            seen.push(...page.map(({ id }) => id));
            if (page.length < limit) break;
          }
          expect(seen).toEqual(made.filter(({ test }) => test || !testOnly).map(({ id }) => id));
        }
      },
    ),
    { numRuns: 10 },
  );
});

test('the lists of a test key, the count of the limit and the sweep use their own indexes', async () => {
  const account = await newAccount();
  await deliveries(account, 3_000);
  await deliveries(account, 5, true);
  await database.db.$executeRaw`UPDATE delivery SET held = true WHERE id IN (SELECT id FROM delivery LIMIT 1000)`;
  await database.db.$executeRaw`ANALYZE delivery`;
  const of = `account_id = '${account}'`;
  expect(await explain(`SELECT id FROM delivery WHERE ${of} AND test ORDER BY id DESC LIMIT 21`)).toContain(
    'delivery_test_of_account',
  );
  expect(await explain(`SELECT count(*) FROM delivery WHERE ${of} AND state = 'pending' AND on_demand`)).toContain(
    'delivery_on_demand_of_account',
  );
  expect(
    await explain(
      `SELECT id FROM delivery WHERE state = 'pending' AND NOT held AND next_attempt_at < now()
       ORDER BY next_attempt_at, id LIMIT 500`,
    ),
  ).toContain('delivery_due');
  expect(
    await explain(`SELECT account_id FROM delivery WHERE state = 'pending' AND held
       ORDER BY account_id, next_attempt_at, id LIMIT 1`),
  ).toContain('delivery_held_of_account');
  expect(await explain(`SELECT id FROM "check" WHERE ${of} AND test ORDER BY id DESC LIMIT 21`)).toMatch(
    /check_test_of_account/,
  );
});
