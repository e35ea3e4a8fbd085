import { createHash } from 'node:crypto';
import { newUuid } from '@vat/domain';
import { faultSize } from '@vat/testkit';
import fc from 'fast-check';
import { AT, newAccount, newBatch, numbers, PERIOD, rowsOf } from '../batch/batch.fixture.js';
import { dispatchLines } from '../batch/dispatch-lines.js';
import { completeBatches, endLostLines } from '../batch/end-lines.js';
import { insertBatch } from '../batch/insert-batch.js';
import { findMalformedLines, settleMalformedLines } from '../batch/malformed-lines.js';
import { eraseAccount } from '../evidence/retention.js';
import { acceptRequest } from '../request/accept-request.js';
import { admitRequest } from '../request/admit-request.js';
import { endRequest, settleRequest } from '../request/settle-request.js';
import { releaseOrphans } from '../request/sweep-requests.js';
import { testDatabase } from '../test-database.fixture.js';
import { startRun } from '../watch/watch-runs.js';
import { setAccountDisabled } from './accounts.js';
import { auditUsage } from './usage.js';

const connected = testDatabase(20, 10_000);

const LATER = new Date(AT.getTime() + 1_000);
const PAST = new Date(AT.getTime() - 1);
const HASH = createHash('sha256').update('').digest();

type Live = { id: string; origin: 'direct' | 'batch' | 'watch'; costs: boolean };

const newCheck = (valid: boolean) => ({
  ...{ id: newUuid(), vatNumber: 'DE1', valid, reference: null, checkedAt: AT },
  ...{ bytes: new Uint8Array([123, 125]), hash: HASH },
});

/** Every third call and upload has one of two keys. */
const keyOf = (n: number) =>
  n % 3 === 0 ? { key: String(n % 2), fingerprint: HASH, lockedUntil: AT, expiredBefore: new Date(0) } : null;

/** What happens to the units of an account with `limit` of them. `n` is any number, which chooses among what there is. */
const stepsOf = (accountId: string, limit: number) => {
  const { db } = connected;
  const quota = { period: PERIOD, limit };
  const accept = acceptRequest(db);
  const live = () => db.$queryRaw<Live[]>`
    SELECT id, origin, quota_period IS NOT NULL AS costs FROM request
    WHERE account_id = ${accountId}::uuid AND state IN ('waiting', 'pending') ORDER BY id`;
  const withLive = (work: (request: Live) => Promise<unknown>) => async (n: number) => {
    const requests = await live();
    const one = requests[n % Math.max(1, requests.length)];
    return one && work(one);
  };
  const settle = (consumes: boolean) =>
    withLive(({ id: requestId, origin, costs }) => {
      const recorded = { entries: [], exchanges: [], consumes: consumes && costs, check: newCheck(consumes && costs) };
      const event = { id: newUuid(), type: 'check.completed' as const, body: '{}' };
      return settleRequest(db)({
        ...{ requestId, ...recorded, event, deliveryId: newUuid(), now: AT, ofBatch: origin === 'batch' },
      });
    });

  const steps = {
    upload: async (n: number) => {
      const same = numbers(n % 12, n % 7);
      const giveUpAt = n % 2 === 0 ? PAST : LATER;
      const batch = await newBatch(accountId, rowsOf([...same, 'DE12', '', ...same]), { quota, giveUpAt });
      return insertBatch(db)({ ...batch, idempotency: keyOf(n) });
    },
    call: (n: number) =>
      admitRequest(db)({
        request: {
          ...{
            id: newUuid(),
            accountId,
            test: false,
            input: 'DE1',
            memberState: 'DE',
            national: '1',
            vatNumber: 'DE1',
          },
          ...{ requester: null, reference: null, trader: null, entries: [], createdAt: AT, windowEndsAt: AT },
        },
        ...{ quota, maxPending: 4, idempotency: keyOf(n) },
      }),
    watch: async () => {
      const watchId = newUuid();
      await db.$executeRaw`
        INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
        VALUES (${watchId}::uuid, ${accountId}::uuid, ${`DE${watchId}`}, 'DE', '', '', 'daily', 'active',
          ${AT}::timestamptz, ${AT}::timestamptz)`;
      return startRun(db)({
        ...{ watchId, frequency: 'daily', requestId: newUuid(), entries: [], now: AT, giveUpAt: LATER, quota },
        ...{ nextCheckAt: LATER, retryAt: LATER, asIfDue: false },
      });
    },
    accept: withLive(({ id }) =>
      accept({ id, accountId, now: AT, giveUpAt: LATER, maxPending: 4, evenAnswered: true }),
    ),
    settle: settle(true),
    'settle as malformed': settle(false),
    refuse: withLive(({ id: requestId }) => {
      const event = { id: newUuid(), type: 'check.failed' as const, body: '{}' };
      return endRequest(db)({ requestId, reason: 'INVALID_REQUESTER', event, deliveryId: newUuid(), now: AT });
    }),
    'record malformed lines': async () => {
      const found = await findMalformedLines(db)(50);
      const lines = found.map(({ id: requestId }) => ({ requestId, check: newCheck(false) }));
      return settleMalformedLines(db)(lines, AT);
    },
    dispatch: () => dispatchLines(db)('DE', AT),
    sweep: async () => {
      await releaseOrphans(db)({
        createdBefore: LATER,
        now: AT,
        giveUpAt: { live: LATER, test: LATER },
        maxPending: 4,
      });
      await endLostLines(db)(AT, 5);
      return completeBatches(db)(null, AT);
    },
    'disable or enable': (n: number) => setAccountDisabled(db)(accountId, n % 2 === 0 ? AT : null),
    'delete completed batches': () => db.batch.deleteMany({ where: { accountId, state: 'completed' } }),
  };
  return { live, steps };
};

type Step = keyof ReturnType<typeof stepsOf>['steps'];
const STEPS = [
  ...(['upload', 'call', 'watch', 'accept', 'settle', 'settle as malformed', 'refuse'] as const),
  ...(['record malformed lines', 'dispatch', 'sweep', 'disable or enable', 'delete completed batches'] as const),
] satisfies Step[];

test('law: whatever uploads, calls, runs, answers and sweeps race, a unit is reserved, and charged or released, once', async () => {
  const { db } = connected;
  const law = async (lanes: (readonly [Step, number])[][], limit: number) => {
    const accountId = await newAccount(db);
    const { live, steps } = stepsOf(accountId, limit);
    const differences = async () =>
      (await auditUsage(db)(PERIOD, 1_000)).filter((difference) => difference.accountId === accountId);
    let racing = true;
    const watching = (async () => {
      while (racing)
        for (const { used, reserved } of await db.usage.findMany({ where: { accountId } }))
          expect(used + reserved).toBeLessThanOrEqual(limit);
    })();
    const race = lanes.map(async (lane) => {
      for (const [step, n] of lane) await steps[step](n);
    });
    await Promise.all(race).finally(() => {
      racing = false;
    });
    await watching;
    expect(await differences()).toEqual([]);
    // A line is as its request is, and every valid check has its unit.
    const wrong = await db.$queryRaw`
      SELECT l.status, r.state FROM batch b JOIN batch_line l ON l.batch_id = b.id LEFT JOIN request r ON r.id = l.request_id
      WHERE b.account_id = ${accountId}::uuid
        AND l.status <> CASE r.state WHEN 'completed' THEN 'done' WHEN 'pending' THEN 'queued' ELSE 'failed' END
      UNION ALL
      SELECT c.id::text, u.period FROM "check" c FULL JOIN usage_entry u ON u.check_id = c.id
      WHERE COALESCE(c.account_id, u.account_id) = ${accountId}::uuid AND c.valid IS DISTINCT FROM (u.check_id IS NOT NULL)`;
    expect(wrong).toEqual([]);
    await setAccountDisabled(db)(accountId, AT);
    await eraseAccount(db)(accountId, AT, AT);
    expect([await differences(), await live()]).toEqual([[], []]);
  };
  const lane = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat(1_000)), { minLength: 2, maxLength: 8 });
  const lanes = fc.array(lane, { minLength: 2, maxLength: 8 });
  await fc.assert(fc.asyncProperty(lanes, fc.integer({ min: 1, max: 40 }), law), { numRuns: faultSize(12, 400) });
}, 600_000);
