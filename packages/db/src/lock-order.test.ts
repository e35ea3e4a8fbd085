import { randomUUID } from 'node:crypto';
import { type NewBatch, newUuid } from '@vat/domain';
import { until } from '@vat/testkit';
import pg from 'pg';
import { deleteExpiredSessions } from './account/sessions.js';
import { newBatch, numbers, PERIOD, rowsOf } from './batch/batch.fixture.js';
import { endLostLines } from './batch/end-lines.js';
import { insertBatch } from './batch/insert-batch.js';
import type { Database } from './connect-database.js';
import { eraseAccount } from './evidence/retention.js';
import { acceptRequest } from './request/accept-request.js';
import { settleRequest } from './request/settle-request.js';
import { releaseOrphans } from './request/sweep-requests.js';
import { countWaiting, testDatabase } from './test-database.fixture.js';
import { claimDelivery, recordAttempt } from './webhook/delivery-attempts.js';
import { endRemovedDeliveries, holdDeliveries } from './webhook/delivery-retention.js';
import { removeWebhook } from './webhook/webhooks.js';

const AT = new Date('2026-11-20T10:00:00.000Z');
const ROWS = 8;

type UploadKey = NonNullable<NewBatch['idempotency']>;

let other: pg.Client;
// Before the database is dropped, which ends its connections.
afterAll(() => other?.end());
const database = testDatabase(4, 10_000);
let db: Database;
beforeAll(async () => {
  ({ db } = database);
  other = new pg.Client({ connectionString: database.url });
  await other.connect();
  // Of two sessions in a deadlock, Postgres ends the one that notices it first: this one.
  await other.query("SET deadlock_timeout = '10ms'");
});

const someoneWaits = async () => (await countWaiting(db)) > 0;

/** Locks a table's rows one by one in the order of `keys`, and lets `run` begin when it has the first. */
const lockBeside = async (table: string, keyColumn: string, keys: readonly unknown[], run: () => Promise<unknown>) => {
  const lock = (key: unknown) => other.query(`SELECT 1 FROM ${table} WHERE ${keyColumn} = $1 FOR UPDATE`, [key]);
  await other.query('BEGIN');
  const [first, ...rest] = keys;
  await lock(first);
  let over = false;
  const running = run().finally(() => {
    over = true;
  });
  await until('it to wait for the first row, or to end', async () => over || (await someoneWaits()));
  try {
    for (const key of rest) await lock(key);
  } finally {
    await other.query('ROLLBACK');
  }
  return running;
};

/** Accounts with used units and an endpoint each, in the order of their ids. Stored in the opposite order. */
const newAccounts = async (count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => randomUUID()).sort();
  for (const id of ids.toReversed()) {
    await db.$executeRaw`
      INSERT INTO account (id, name, plan, created_at) VALUES (${id}::uuid, 'Locks', 'free', ${AT}::timestamptz)`;
    await db.$executeRaw`
      INSERT INTO usage (account_id, period, used, reserved) VALUES (${id}::uuid, '2026-11', 0, 1)`;
    await db.$executeRaw`
      INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
      VALUES (${id}::uuid, 'https://example.com/', decode('00', 'hex'), 'whsec_aa', ${AT}::timestamptz)`;
  }
  return ids;
};

/** A request of each account that has lost its caller, or with `late` a line that is past its end. */
const newRequests = async (accounts: readonly string[], late: boolean): Promise<void> => {
  for (const account of accounts.toReversed()) {
    await db.$executeRaw`
      INSERT INTO request (id, account_id, test, state, origin, input, country_code, national, vat_number, entries, created_at,
        window_ends_at, due_at, give_up_at, quota_period)
      VALUES (${newUuid()}::uuid, ${account}::uuid, false, ${late ? 'pending' : 'waiting'}, ${late ? 'batch' : 'direct'},
        'DE1', 'DE', '1', 'DE1', '[]', ${AT}::timestamptz, ${AT}::timestamptz, ${AT}::timestamptz,
        ${late ? AT : null}::timestamptz, '2026-11')`;
  }
};

/** Due deliveries of one account in the order of their ids, stored in the opposite order. */
const newDeliveries = async (): Promise<{ account: string; ids: string[] }> => {
  const [account = ''] = await newAccounts(1);
  const ids = Array.from({ length: ROWS }, () => randomUUID()).sort();
  for (const id of ids.toReversed()) {
    await db.$executeRaw`
      WITH published AS (
        INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
        VALUES (${newUuid()}::uuid, ${account}::uuid, 'webhook.test', ${id}::uuid, '{}', false, ${AT}::timestamptz) RETURNING id
      )
      INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
      SELECT ${id}::uuid, w.account_id, published.id, w.generation, 'pending', ${AT}::timestamptz, ${AT}::timestamptz
      FROM published, webhook w WHERE w.account_id = ${account}::uuid`;
  }
  return { account, ids };
};

const later = new Date(AT.getTime() + 60_000);

test.each([
  [
    'releasing lost callers',
    false,
    () =>
      releaseOrphans(db)({ createdBefore: later, now: later, giveUpAt: { live: later, test: later }, maxPending: 200 }),
  ],
  ['ending lines', true, async () => (await endLostLines(db)(later, 100)).ended],
] as const)('%s of several accounts locks their usage in the order of accounts', async (_title, late, run) => {
  const accounts = await newAccounts(ROWS);
  await newRequests(accounts, late);
  // With statistics Postgres reads usage in the order in which it is stored.
  await db.$executeRaw`ANALYZE usage, request`;
  expect(await lockBeside('usage', 'account_id', accounts, run)).toBe(ROWS);
  const left = await db.usage.findMany({ where: { accountId: { in: accounts } } });
  expect(left.map(({ reserved }) => reserved)).toEqual(accounts.map(() => 0));
});

test('refusing calls of several accounts locks their usage in the order of accounts', async () => {
  const accounts = await newAccounts(ROWS);
  await newRequests(accounts, false);
  await db.$executeRaw`ANALYZE usage, request`;
  const calls = await db.$queryRaw<{ id: string; accountId: string }[]>`
    SELECT id, account_id AS "accountId" FROM request WHERE account_id = ANY(${accounts}::uuid[]) ORDER BY account_id DESC`;
  const accept = acceptRequest(db);
  const refuse = (call: (typeof calls)[number]) =>
    accept({ ...call, now: later, giveUpAt: later, maxPending: 0, evenAnswered: false });
  // The first call has a statement of its own, which the others wait for.
  const results = await lockBeside('usage', 'account_id', accounts, () => Promise.all(calls.map(refuse)));
  expect(results).toEqual(accounts.map(() => ({ kind: 'too_many_pending', pending: 0 })));
  const left = await db.usage.findMany({ where: { accountId: { in: accounts } } });
  expect(left.map(({ reserved }) => reserved)).toEqual(accounts.map(() => 0));
});

test('removing an endpoint locks its deliveries in the order of their ids', async () => {
  const { account, ids } = await newDeliveries();
  expect(await lockBeside('delivery', 'id', ids, () => removeWebhook(db)(account, later))).toBe(true);
});

test('ending deliveries of a removed endpoint locks them in the order of their ids', async () => {
  const { account, ids } = await newDeliveries();
  await db.$executeRaw`DELETE FROM webhook WHERE account_id = ${account}::uuid`;
  const end = () => endRemovedDeliveries(db)(later, ids.toReversed());
  expect(await lockBeside('delivery', 'id', ids, end)).toBe(ROWS);
});

test('holding deliveries locks them in the order of their ids', async () => {
  const { account, ids } = await newDeliveries();
  await db.$executeRaw`UPDATE account SET disabled_at = ${AT}::timestamptz WHERE id = ${account}::uuid`;
  const hold = () => holdDeliveries(db)(ids.toReversed());
  expect(await lockBeside('delivery', 'id', ids, hold)).toBe(ROWS);
});

test('claims of several deliveries, and the records of their attempts, lock them in the order of their ids', async () => {
  const { ids } = await newDeliveries();
  const claim = claimDelivery(db);
  const claimAll = () =>
    Promise.all(
      ids
        .toReversed()
        .map((deliveryId) =>
          claim({ deliveryId, number: 1, now: later, leasedUntil: new Date(later.getTime() + 1_000) }),
        ),
    );
  const claimed = (await lockBeside('delivery', 'id', ids, claimAll)) as Awaited<ReturnType<typeof claim>>[];
  expect(claimed.map(({ kind }) => kind)).toEqual(ids.map(() => 'claimed'));

  const record = recordAttempt(db);
  const attempt = {
    number: 1,
    at: later,
    url: 'https://example.com/',
    statusCode: 204,
    durationMs: 5,
    error: null,
    address: null,
    timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 5 },
    answer: new Uint8Array(),
    answerTruncated: false,
  };
  const recordAll = () =>
    Promise.all(
      ids
        .toReversed()
        .map((deliveryId) =>
          record({ deliveryId, attempt, plan: { state: 'successful', nextAttemptAt: null }, leasedUntil: later }),
        ),
    );
  expect(await lockBeside('delivery', 'id', ids, recordAll)).toEqual(ids.map(() => true));
});

test('deleting expired counts of sign-ins does not wait for one that is being changed', async () => {
  const addresses = Array.from({ length: ROWS }, (_, n) => Buffer.from([n]));
  for (const address of addresses.toReversed()) {
    await db.$executeRaw`
      INSERT INTO sign_in_attempt (address, tried_at, expires_at) VALUES (${address}::bytea, '{}', ${AT}::timestamptz)`;
  }
  await lockBeside('sign_in_attempt', 'address', addresses, () => deleteExpiredSessions(db)(later));
  const left = await db.signInAttempt.findMany();
  expect(left.map(({ address }) => Buffer.from(address))).toEqual(addresses.slice(0, 1));
});

describe('settling a check writes its events before it charges the unit', () => {
  const rows = ['a request that was answered 202', 'a run of a watch'].flatMap((what) => [
    [what, 'with an endpoint'],
    [what, 'without'],
  ]);
  test.each(rows)('of %s, %s', async (what, endpoint) => {
    const [account = ''] = await newAccounts(1);
    if (endpoint === 'without') await db.$executeRaw`DELETE FROM webhook WHERE account_id = ${account}::uuid`;
    await db.$executeRaw`
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      VALUES (${newUuid()}::uuid, ${account}::uuid, 'webhook.test', ${newUuid()}::uuid, '{}', false, ${AT}::timestamptz)`;
    const isRun = what === 'a run of a watch';
    const [requestId, watchId, checkId] = [newUuid(), newUuid(), newUuid()];
    await db.$executeRaw`
      INSERT INTO request (id, account_id, test, state, origin, input, country_code, national, vat_number, entries, created_at,
        window_ends_at, due_at, give_up_at, accepted_at, quota_period)
      VALUES (${requestId}::uuid, ${account}::uuid, false, 'pending', ${isRun ? 'watch' : 'direct'}, 'DE1', 'DE', '1', 'DE1', '[]',
        ${AT}::timestamptz, ${AT}::timestamptz, ${AT}::timestamptz, ${later}::timestamptz, ${isRun ? null : AT}::timestamptz, '2026-11')`;
    await db.$executeRaw`
      INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at,
        request_id)
      VALUES (${watchId}::uuid, ${account}::uuid, 'DE1', 'DE', '1', 'DE1', 'daily', 'active', ${AT}::timestamptz,
        ${later}::timestamptz, ${requestId}::uuid)`;
    const change = {
      ...{ id: newUuid(), kind: 'validity' as const, before: true, after: false, body: '{}' },
      ...{ watchId, vatNumber: 'DE1', label: null, checkId },
    };
    const watch = {
      ...{ watchId, checkId, checkedAt: AT, seen: { valid: false, name: null, address: null }, now: AT },
      changes: [{ ...change, eventId: newUuid(), deliveryId: newUuid() }],
    };
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM usage WHERE account_id = $1 FOR UPDATE', [account]);
    const settling = settleRequest(db)({
      ...{ requestId, entries: [], consumes: true, exchanges: [], deliveryId: newUuid(), now: AT },
      check: {
        ...{ id: checkId, vatNumber: 'DE1', valid: false, reference: null, checkedAt: AT },
        ...{ bytes: new Uint8Array([123, 125]), hash: new Uint8Array(32) },
      },
      event: { id: newUuid(), type: 'check.completed', body: '{}' },
      ...(isRun ? { watch } : {}),
    });
    try {
      await until('it to wait for the unit', someoneWaits);
      const free = await db.$queryRaw`
        SELECT position FROM newest_event WHERE account_id = ${account}::uuid FOR UPDATE SKIP LOCKED`;
      expect(free).toEqual([]);
    } finally {
      await other.query('ROLLBACK');
    }
    expect((await settling)?.deliveryIds).toHaveLength(endpoint === 'without' ? 0 : 1);
    const [newest] = await db.$queryRaw<unknown[]>`
      SELECT position::int AS position FROM newest_event WHERE account_id = ${account}::uuid`;
    expect(newest).toEqual({ position: 2 });
  });
});

test('erasing an account locks its check_day before its users, as the record of a changed watch does', async () => {
  const [account = ''] = await newAccounts(1);
  await db.$executeRaw`UPDATE account SET disabled_at = ${AT}::timestamptz WHERE id = ${account}::uuid`;
  await db.$executeRaw`INSERT INTO check_day VALUES (${account}::uuid, '2026-11-20', 1, 0, 0)`;
  await db.$executeRaw`
    INSERT INTO app_user (id, account_id, email, password_hash, created_at)
    VALUES (${newUuid()}::uuid, ${account}::uuid, 'erased@example.com', '', ${AT}::timestamptz)`;
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM check_day WHERE account_id = $1 FOR UPDATE', [account]);
  const erasing = eraseAccount(db)(account, later, later);
  try {
    await until('it to wait for the day', someoneWaits);
    const { rows } = await other.query('SELECT 1 FROM app_user WHERE account_id = $1 FOR KEY SHARE SKIP LOCKED', [
      account,
    ]);
    expect(rows).toHaveLength(1);
  } finally {
    await other.query('ROLLBACK');
  }
  expect(await erasing).toMatchObject({ kind: 'erased' });
});

describe('an upload', () => {
  /** An upload of one number that pauses when its rows are inserted. `whileInserting`: what others do meanwhile. */
  const upload = async (
    account: string,
    whileInserting: () => Promise<unknown>,
    idempotency: UploadKey | null = null,
  ) => {
    const batch = await newBatch(account, rowsOf(numbers(1)), { quota: { period: PERIOD, limit: 2 }, idempotency });
    let paused = false;
    return insertBatch(db, async (work) => {
      const done = await work();
      if (!paused) await whileInserting();
      paused = true;
      return done;
    })(batch);
  };

  test('whose last unit is taken meanwhile ends its batch without holding what a settlement waits for', async () => {
    const [account = ''] = await newAccounts(1);
    const eventId = newUuid();
    await db.$executeRaw`
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      VALUES (${eventId}::uuid, ${account}::uuid, 'webhook.test', ${eventId}::uuid, '{}', false, ${AT}::timestamptz)`;
    const uploading = upload(account, async () => {
      await db.$executeRaw`UPDATE usage SET reserved = 2 WHERE account_id = ${account}::uuid`;
      // What a settlement locks first: it has written its event, and not charged its unit.
      await other.query('BEGIN');
      await other.query('SELECT FROM newest_event WHERE account_id = $1 FOR UPDATE', [account]);
    });
    try {
      await until('the upload to wait for the event', someoneWaits);
      await other.query('UPDATE usage SET reserved = reserved - 1, used = used + 1 WHERE account_id = $1', [account]);
    } finally {
      await other.query('COMMIT');
    }
    expect(await uploading).toMatchObject({ kind: 'created', batch: { status: 'completed', failed: 1 } });
    expect(await db.usage.findMany({ where: { accountId: account } })).toMatchObject([{ used: 1, reserved: 1 }]);
    expect(await db.event.count({ where: { accountId: account } })).toBe(2);
  });

  test('whose Idempotency-Key is used for a check meanwhile does not hold the unit that the check waits for', async () => {
    const [account = ''] = await newAccounts(1);
    const idempotency = { key: 'twice', fingerprint: new Uint8Array(32), expiredBefore: new Date(0) };
    const uploading = upload(
      account,
      async () => {
        // What the admission of a check locks first: it has bound the key, and not reserved its unit.
        await other.query('BEGIN');
        await other.query(
          `INSERT INTO idempotency_key (account_id, key, fingerprint, created_at, locked_until)
           VALUES ($1, $2, '', $3, $3)`,
          [account, idempotency.key, AT],
        );
      },
      idempotency,
    );
    try {
      await until('the upload to wait for the key', someoneWaits);
      await other.query('UPDATE usage SET reserved = reserved + 1 WHERE account_id = $1', [account]);
    } finally {
      await other.query('COMMIT');
    }
    expect(await uploading).toEqual({ kind: 'key_taken' });
    expect(await db.usage.findMany({ where: { accountId: account } })).toMatchObject([{ reserved: 2 }]);
  });
});
