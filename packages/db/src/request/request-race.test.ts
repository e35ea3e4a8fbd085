import { createHash } from 'node:crypto';
import {
  type AcceptRequest,
  type Admission,
  type Exchange,
  type NewRequest,
  newUuid,
  type Settlement,
} from '@vat/domain';
import { faultSize } from '@vat/testkit';
import fc from 'fast-check';
import { lockAccount } from '../account/accounts.js';
import { auditUsage } from '../account/usage.js';
import { AT, newAccount, PERIOD } from '../batch/batch.fixture.js';
import type { Database } from '../connect-database.js';
import { storeIdempotentAnswer } from '../idempotency-keys.js';
import { testDatabase } from '../test-database.fixture.js';
import { acceptRequest } from './accept-request.js';
import { admitRequest } from './admit-request.js';
import { readExchanges } from './exchanges.js';
import { endRequest, settleRequest } from './settle-request.js';
import { releaseOrphans } from './sweep-requests.js';

const connected = testDatabase(20);

const JUST_AFTER = new Date(AT.getTime() + 1);
const LATER = new Date(AT.getTime() + 3_600_000);
const GIVE_UP = { live: new Date(LATER.getTime() - 1_000), test: new Date(AT.getTime() + 5_000) };
const ORPHANED = { createdBefore: JUST_AFTER, now: AT, giveUpAt: GIVE_UP };
const HASH = createHash('sha256').update('').digest();

const requestOf = (accountId: string): NewRequest => ({
  id: newUuid(),
  accountId,
  test: false,
  input: 'DE123456789',
  memberState: 'DE',
  national: '123456789',
  vatNumber: 'DE123456789',
  requester: null,
  reference: null,
  trader: null,
  entries: [],
  createdAt: AT,
  windowEndsAt: AT,
});

const admission = (request: NewRequest, limit: number, maxPending: number, key: string | null = null): Admission => ({
  request,
  quota: { period: PERIOD, limit },
  maxPending,
  idempotency: key === null ? null : { key, fingerprint: HASH, lockedUntil: AT, expiredBefore: new Date(0) },
});

const settle = (db: Database, requestId: string, answered: Partial<Settlement> = {}) =>
  settleRequest(db)({
    requestId,
    entries: [],
    check: {
      id: newUuid(),
      vatNumber: 'DE123456789',
      valid: true,
      reference: null,
      checkedAt: AT,
      bytes: new Uint8Array([123, 125]),
      hash: HASH,
    },
    consumes: true,
    exchanges: [],
    event: { id: newUuid(), type: 'check.completed', body: '{}' },
    deliveryId: newUuid(),
    now: AT,
    ...answered,
  });

const end = (db: Database, requestId: string) =>
  endRequest(db)({
    requestId,
    reason: 'UPSTREAM_NO_ANSWER',
    event: { id: newUuid(), type: 'check.failed', body: '{}' },
    deliveryId: newUuid(),
    now: AT,
  });

/** Two processes: the calls of each share transactions, and each finds accounts that the other one has locked. */
const processes = new WeakMap<Database, AcceptRequest[]>();
let calls = 0;
const accept = (db: Database, id: string, accountId: string, maxPending: number) => {
  const both = processes.get(db) ?? [1, 2].map(() => acceptRequest(db));
  processes.set(db, both);
  calls += 1;
  const inOne = both[calls % 2] as AcceptRequest;
  return inOne({ id, accountId, now: AT, giveUpAt: LATER, maxPending, evenAnswered: false });
};

type Facts = { live: number; pending: number; used: number; reserved: number; charged: number };
const factsOf = async (db: Database, accountId: string): Promise<Facts> => {
  const [facts] = await db.$queryRaw<Facts[]>`
    SELECT (SELECT count(*)::int FROM request WHERE account_id = ${accountId}::uuid AND state IN ('waiting', 'pending')) AS live,
      (SELECT count(*)::int FROM request WHERE account_id = ${accountId}::uuid AND state = 'pending') AS pending,
      COALESCE((SELECT used FROM usage WHERE account_id = ${accountId}::uuid), 0) AS used,
      COALESCE((SELECT reserved FROM usage WHERE account_id = ${accountId}::uuid), 0) AS reserved,
      (SELECT count(*)::int FROM usage_entry WHERE account_id = ${accountId}::uuid) AS charged`;
  if (!facts) throw new Error('no facts');
  return facts;
};

const step = fc.constantFrom('accept', 'settle', 'end', 'orphans' as const);

test('law: under any concurrency the quota and the pending maximum hold, and each request ends once', async () => {
  const { db } = connected;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 6 }),
      async (plans, limit, maxPending) => {
        const accountId = await newAccount(db);
        const seen: Facts[] = [];
        let racing = true;
        const watching = (async () => {
          while (racing) seen.push(await factsOf(db, accountId));
        })();
        const outcomes = await Promise.all(
          plans.map(async (plan) => {
            const request = requestOf(accountId);
            const admitted = await admitRequest(db)(admission(request, limit, maxPending));
            if (admitted.kind !== 'admitted') return { admitted: false, ends: 0, acceptances: 0 };
            const results = await Promise.all(
              plan.map(async (what) => {
                if (what === 'accept') return (await accept(db, request.id, accountId, maxPending)).kind;
                if (what === 'settle') return (await settle(db, request.id)) ? 'ended' : 'late';
                if (what === 'end') return (await end(db, request.id)) ? 'ended' : 'late';
                await releaseOrphans(db)({ ...ORPHANED, maxPending });
                return 'swept';
              }),
            );
            return {
              admitted: true,
              ends: results.filter((result) => result === 'ended' || result === 'too_many_pending').length,
              acceptances: results.filter((result) => result === 'accepted').length,
            };
          }),
        );
        racing = false;
        await watching;
        const facts = await factsOf(db, accountId);
        for (const moment of [...seen, facts]) {
          expect(moment.used + moment.reserved).toBeLessThanOrEqual(limit);
          expect(moment.pending).toBeLessThanOrEqual(maxPending);
        }
        for (const { ends, acceptances } of outcomes) {
          expect(ends).toBeLessThanOrEqual(1);
          expect(acceptances).toBeLessThanOrEqual(1);
        }
        expect(facts.reserved).toBe(facts.live);
        expect(facts.used).toBe(facts.charged);
        const published = await db.$queryRaw<{ n: number; accepted: boolean; ended: boolean }[]>`
          SELECT accepted_at IS NOT NULL AS accepted, state IN ('completed', 'abandoned') AS ended,
            (SELECT count(*)::int FROM event e WHERE e.subject_id = r.id) AS n
          FROM request r WHERE account_id = ${accountId}::uuid`;
        for (const row of published) expect(row.n).toBe(row.accepted && row.ended ? 1 : 0);
      },
    ),
    { numRuns: faultSize(40, 600) },
  );
}, 600_000);

test('a request with a key whose caller was lost is accepted even if the account has its maximum pending', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  const orphan = requestOf(accountId);
  const sandboxed = { ...requestOf(accountId), test: true };
  await admitRequest(db)(admission(orphan, 100, 2, 'key-1'));
  await admitRequest(db)({ ...admission(sandboxed, 100, 2, 'key-of-test'), quota: null });
  expect(await releaseOrphans(db)({ ...ORPHANED, maxPending: 2 })).toBeGreaterThan(0);
  for (const other of [requestOf(accountId), requestOf(accountId)]) {
    await admitRequest(db)(admission(other, 100, 5));
    await accept(db, other.id, accountId, 5);
  }
  // The response reflects the row, which was pending before any response.
  expect(await accept(db, orphan.id, accountId, 2)).toEqual({ kind: 'accepted', giveUpAt: GIVE_UP.live });
  expect(await accept(db, sandboxed.id, accountId, 2)).toEqual({ kind: 'accepted', giveUpAt: GIVE_UP.test });
  expect(await accept(db, orphan.id, accountId, 2)).toEqual({ kind: 'lost_race' });
});

test('requests with a key whose caller was lost continue up to the maximum of their account, and the others release their keys', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  for (const other of [requestOf(accountId), requestOf(accountId)]) {
    await admitRequest(db)(admission(other, 100, 5));
    await accept(db, other.id, accountId, 5);
  }
  const orphans = [requestOf(accountId), requestOf(accountId), requestOf(accountId)];
  for (const [n, orphan] of orphans.entries()) await admitRequest(db)(admission(orphan, 100, 5, `lost-${n}`));
  await releaseOrphans(db)({ ...ORPHANED, maxPending: 3 });
  const rows = await db.request.findMany({
    where: { id: { in: orphans.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  expect(rows.map(({ state, reason }) => [state, reason])).toEqual([
    ['pending', null],
    ['withdrawn', 'TOO_MANY_PENDING'],
    ['withdrawn', 'TOO_MANY_PENDING'],
  ]);
  expect(await factsOf(db, accountId)).toMatchObject({ pending: 3, live: 3, reserved: 3 });
  const repeat = (n: number) => admitRequest(db)(admission(requestOf(accountId), 100, 3, `lost-${n}`));
  expect([await repeat(0), await repeat(1)]).toEqual([{ kind: 'key_taken' }, { kind: 'too_many_pending', pending: 3 }]);
});

test('a counter that is too low does not prevent a request from ending, and the audit reports it', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  const ends: ((id: string) => Promise<unknown>)[] = [
    (id) => settle(db, id),
    (id) => end(db, id),
    (id) => accept(db, id, accountId, 0),
    () => releaseOrphans(db)({ ...ORPHANED, maxPending: 5 }),
  ];
  for (const [n, endIt] of ends.entries()) {
    const request = requestOf(accountId);
    await admitRequest(db)(admission(request, 100, 5));
    await db.$executeRaw`UPDATE usage SET reserved = 0 WHERE account_id = ${accountId}::uuid`;
    await endIt(request.id);
    expect(await factsOf(db, accountId)).toEqual({ live: 0, pending: 0, used: 1, reserved: 0, charged: 1 });
    expect(
      (await auditUsage(db)(PERIOD, 100)).filter((difference) => difference.accountId === accountId),
    ).toMatchObject([{ used: 1, consumed: 1, reserved: 0, held: 0, shortfall: n + 1 }]);
  }
});

test('a withdrawn request releases its Idempotency-Key and its unit', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  const first = requestOf(accountId);
  await admitRequest(db)(admission(first, 1, 5, 'key-2'));
  expect(await accept(db, first.id, accountId, 0)).toEqual({ kind: 'too_many_pending', pending: 0 });
  expect(await admitRequest(db)(admission(requestOf(accountId), 1, 5, 'key-2'))).toEqual({ kind: 'admitted' });
});

test('of two calls with one Idempotency-Key that end at once, both send the answer that is stored first', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  await admitRequest(db)(admission(requestOf(accountId), 1, 5, 'key-3'));
  const store = storeIdempotentAnswer(db);
  const answerOf = (n: number) => ({ status: 202, headers: { Location: String(n) }, body: Buffer.from(`{"n":${n}}`) });
  const sent = await Promise.all([1, 2, 3].map((n) => store(accountId, 'key-3', answerOf(n))));
  expect(sent[0]).not.toBeNull();
  for (const answer of sent) expect(answer).toEqual(sent[0]);
  expect(await store(accountId, 'key-4', answerOf(1))).toBeNull();
});

test('calls of several accounts whose windows end together are accepted up to the maximum of each account', async () => {
  const { db } = connected;
  const accounts = await Promise.all([newAccount(db), newAccount(db), newAccount(db)]);
  const requests = accounts.flatMap((accountId) => Array.from({ length: 5 }, () => requestOf(accountId)));
  for (const request of requests) await admitRequest(db)(admission(request, 100, 10));
  const acceptOne = acceptRequest(db);
  const acceptAll = () =>
    Promise.all(
      requests.map(({ id, accountId }) =>
        acceptOne({ id, accountId, now: AT, giveUpAt: LATER, maxPending: 3, evenAnswered: false }),
      ),
    );
  const results = await acceptAll();
  for (const accountId of accounts) {
    const own = results.filter((_result, n) => requests[n]?.accountId === accountId);
    expect(own.filter(({ kind }) => kind === 'accepted')).toEqual(Array(3).fill({ kind: 'accepted', giveUpAt: LATER }));
    expect(own.filter(({ kind }) => kind !== 'accepted')).toEqual(
      Array(2).fill({ kind: 'too_many_pending', pending: 3 }),
    );
    expect(await factsOf(db, accountId)).toMatchObject({ live: 3, pending: 3, reserved: 3 });
  }
  expect(new Set((await acceptAll()).map(({ kind }) => kind))).toEqual(new Set(['lost_race']));
});

test('an account that another transaction has locked delays the acceptance of its own calls alone', async () => {
  const { db } = connected;
  const [locked, other] = await Promise.all([newAccount(db), newAccount(db)]);
  const requests = [locked, locked, other].map(requestOf);
  for (const request of requests) await admitRequest(db)(admission(request, 100, 10));
  const acceptOne = acceptRequest(db);
  const ended: string[] = [];
  let accepting: Promise<unknown> = Promise.resolve();
  await db.$transaction(async (tx) => {
    await lockAccount(tx, locked);
    const all = requests.map(async ({ id, accountId }) => {
      const { kind } = await acceptOne({ id, accountId, now: AT, giveUpAt: LATER, maxPending: 5, evenAnswered: false });
      ended.push(accountId);
      expect(kind).toBe('accepted');
    });
    await all[2];
    expect(ended).toEqual([other]);
    accepting = Promise.all(all);
  });
  await accepting;
  expect(ended).toEqual([other, locked, locked]);
});

test('the windows of thousands of calls that end at once take three connections and one transaction for each hundred', async () => {
  const { db } = connected;
  const count = faultSize(600, 3_000);
  const accounts = await Promise.all(Array.from({ length: count / 150 }, () => newAccount(db)));
  const requests = Array.from({ length: count }, (_, n) => requestOf(accounts[n % accounts.length] ?? ''));
  await db.$executeRaw`
    INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
      window_ends_at, due_at)
    SELECT r.id, r.account_id, false, 'waiting', '', 'DE', '', '', '[]', ${AT}::timestamptz, ${AT}::timestamptz, ${AT}::timestamptz
    FROM unnest(${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ accountId }) => accountId)}::uuid[])
      AS r(id, account_id)`;
  let [open, maxOpen, total] = [0, 0, 0];
  const counted = {
    $transaction: async (work: never) => {
      total += 1;
      open += 1;
      maxOpen = Math.max(maxOpen, open);
      return db.$transaction(work).finally(() => {
        open -= 1;
      });
    },
  } as unknown as Database;
  const acceptOne = acceptRequest(counted);
  const results = await Promise.all(
    requests.map(({ id, accountId }) =>
      acceptOne({ id, accountId, now: AT, giveUpAt: LATER, maxPending: 200, evenAnswered: false }),
    ),
  );
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  expect(maxOpen).toBeLessThanOrEqual(3);
  expect(total).toBeLessThanOrEqual(count / 100 + 2);
});

test('a settlement that is repeated because its result was lost stores the exchange of its lookup once', async () => {
  const { db } = connected;
  const request = requestOf(await newAccount(db));
  await admitRequest(db)(admission(request, 5, 5));
  const exchange: Exchange = {
    source: 'vies',
    startedAt: AT,
    durationMs: 100,
    request: { method: 'POST', url: 'https://vies.example/', headers: {}, body: Buffer.from('{}') },
    response: { status: 200, headers: {}, body: Buffer.from('{"valid":true}'), complete: true },
    error: null,
  };
  const answer = {
    verdict: 'valid' as const,
    ...{ name: null, address: null, consultationNumber: null, traderMatch: null },
    answeredAt: AT.toISOString(),
  };
  const settleWith = (made: Exchange) =>
    settle(db, request.id, { exchanges: [made], lookup: { expectedAttempts: 0, attempts: 1, answer } });
  expect(await settleWith(exchange)).not.toBeNull();
  expect(await settleWith(exchange)).toBeNull();
  // One of another lookup is stored, although it came too late.
  expect(await settleWith({ ...exchange, startedAt: JUST_AFTER })).toBeNull();
  const stored = await readExchanges(db)([request.id]);
  expect(stored.get(request.id)?.map(({ startedAt }) => startedAt)).toEqual([AT, JUST_AFTER]);
});
