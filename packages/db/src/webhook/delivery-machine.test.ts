import { randomUUID } from 'node:crypto';
import { type DeliveryState, type DueDelivery, newUuid, planDelivery, sweepDeliveries } from '@vat/domain';
import { faultSize, reportFigure } from '@vat/testkit';
import fc from 'fast-check';
import { pick, stateMachine } from '../commands.fixture.js';
import { testDatabase } from '../test-database.fixture.js';
import { dueDeliveries } from './deliveries.js';
import { claimDelivery, recordAttempt, releaseDelivery } from './delivery-attempts.js';
import { endRemovedDeliveries, holdDeliveries, resumeDeliveries } from './delivery-retention.js';
import { resendDelivery, sendTestEvent } from './events.js';
import { removeWebhook, saveWebhook } from './webhooks.js';

const connected = testDatabase(2);

const START = Date.parse('2026-11-20T10:00:00.000Z');
const LEASE_MS = 3_000;
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000];
const GRACE_MS = 5_000;
const MAX_ON_DEMAND = 1_000;
const at = (ms: number) => new Date(ms);

/** A delivery as it should be. `endpoint`: which of the account's endpoints, in order, it goes to. */
type Row = {
  id: string;
  event: string;
  endpoint: number;
  state: DeliveryState;
  attempts: number;
  nextAt: number | null;
  leasedUntil: number | null;
  held: boolean;
};
/** An attempt that a worker makes; its claim holds until `until`. `hasEndpoint`: when it was claimed. */
type Claimed = { row: Row; number: number; until: number; hasEndpoint: boolean };
/** `jobs`: those in the queue, by delivery and attempt. `endpoint`: the current one, null when there is none. */
type Model = {
  accountId: string;
  now: number;
  disabled: boolean;
  endpoint: number | null;
  endpoints: number;
  rows: Row[];
  claims: Claimed[];
};

const start = async (): Promise<Model> => {
  const accountId = randomUUID();
  await connected.db.$executeRaw`
    INSERT INTO account (id, name, plan, created_at) VALUES (${accountId}::uuid, 'M', 'free', ${at(START)}::timestamptz)`;
  const model = { accountId, now: START, disabled: false, endpoint: null, endpoints: 0, rows: [], claims: [] };
  await configure(model);
  return model;
};

/** Sets an endpoint, or replaces the present one, which keeps its deliveries. */
const configure = async (model: Model) => {
  await saveWebhook(connected.db)({
    ...{ accountId: model.accountId, url: 'https://example.com/', secretPrefix: 'whsec_aa' },
    ...{ secretSealed: new Uint8Array([0]), configuredAt: at(model.now) },
  });
  if (model.endpoint !== null) return;
  model.endpoints += 1;
  model.endpoint = model.endpoints;
};
const pendingOf = (model: Model) => model.rows.filter(({ state }) => state === 'pending');
const add = (model: Model, id: string, event: string) =>
  model.rows.push({
    ...{ id, event, endpoint: model.endpoint ?? 0, state: 'pending', attempts: 0 },
    ...{ nextAt: model.now, leasedUntil: null, held: false },
  });
const endRow = (row: Row, state: 'successful' | 'failed') =>
  Object.assign(row, { state, nextAt: null, leasedUntil: null });

/** Claims the next attempt, or an earlier one whose job runs once more. */
const claim = async (model: Model, row: Row, number: number) => {
  const { now } = model;
  const until = now + LEASE_MS;
  const result = await claimDelivery(connected.db)({
    deliveryId: row.id,
    number,
    now: at(now),
    leasedUntil: at(until),
  });
  if (row.state !== 'pending' || row.attempts !== number - 1) return expect(result).toEqual({ kind: 'settled' });
  const freeAt = Math.max(row.nextAt ?? 0, row.leasedUntil ?? 0);
  if (freeAt > now) return expect(result).toEqual({ kind: 'not_yet', at: at(freeAt) });
  row.held = model.disabled;
  row.leasedUntil = model.disabled ? null : until;
  expect(result.kind).toBe(model.disabled ? 'held' : 'claimed');
  if (result.kind !== 'claimed') return;
  const hasEndpoint = row.endpoint === model.endpoint;
  expect([result.attempt.eventId, result.attempt.endpoint !== null]).toEqual([row.event, hasEndpoint]);
  model.claims.push({ row, number, until, hasEndpoint });
};

const record = async (model: Model, { row, number }: Claimed, succeeded: boolean) => {
  const plan = planDelivery({ number, succeeded, endedAt: at(model.now) }, RETRY_DELAYS_MS);
  const recorded = await recordAttempt(connected.db)({
    ...{ deliveryId: row.id, plan },
    attempt: {
      ...{ number, at: at(model.now), url: 'https://example.com/', statusCode: succeeded ? 204 : 500, durationMs: 5 },
      ...{ error: null, address: null, answer: new Uint8Array(), answerTruncated: false },
      timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 5 },
    },
  });
  expect(recorded).toBe(row.attempts === number - 1);
  if (!recorded) return;
  row.attempts = number;
  row.leasedUntil = null;
  if (row.state === 'pending') Object.assign(row, { state: plan.state, nextAt: plan.nextAttemptAt?.getTime() ?? null });
};

const sweep = async (model: Model, everything: boolean) => {
  const { db } = connected;
  const enqueued: string[] = [];
  await sweepDeliveries({
    ...{ due: dueDeliveries(db), hold: holdDeliveries(db), resume: resumeDeliveries(db) },
    endRemoved: endRemovedDeliveries(db),
    enqueue: async (some: DueDelivery[]) => {
      for (const { id, accountId, attempt } of some)
        if (accountId === model.accountId) enqueued.push(`${id} ${attempt}`);
    },
    now: () => at(model.now),
  })({ everything });
  for (const row of pendingOf(model)) if (!row.held && row.endpoint !== model.endpoint) endRow(row, 'failed');
  const pending = pendingOf(model);
  const before = everything ? Number.POSITIVE_INFINITY : model.now - GRACE_MS;
  const resumed = pending.filter(({ held }) => held && !model.disabled);
  for (const row of resumed) row.held = false;
  const due = pending.filter(({ held, nextAt }) => !held && nextAt !== null && nextAt < before);
  if (model.disabled) for (const row of due) row.held = true;
  const expected = [...new Set([...resumed, ...(model.disabled ? [] : due)])];
  expect([...new Set(enqueued)].sort()).toEqual(expected.map(({ id, attempts }) => `${id} ${attempts + 1}`).sort());
};

type Real = Omit<Row, 'endpoint' | 'event' | 'nextAt' | 'leasedUntil'> & {
  nextAt: Date | null;
  leasedUntil: Date | null;
  /** Numbers of the logged attempts. */
  logged: number[];
};

/** Compares every delivery and its log with the model, and holds the laws. */
const verify = async (model: Model) => {
  const rows = await connected.db.$queryRaw<Real[]>`
    SELECT id, state, attempts, held, next_attempt_at AS "nextAt", leased_until AS "leasedUntil",
      ARRAY(SELECT number FROM delivery_attempt t WHERE t.delivery_id = d.id ORDER BY number) AS logged
    FROM delivery d WHERE account_id = ${model.accountId}::uuid ORDER BY id`;
  const time = (ms: number | null) => (ms === null ? null : at(ms));
  expect(rows).toEqual(
    model.rows
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ endpoint: _endpoint, event: _event, ...row }) => ({
        ...row,
        ...{ nextAt: time(row.nextAt), leasedUntil: time(row.leasedUntil) },
        // Every attempt is logged once, in order.
        logged: Array.from({ length: row.attempts }, (_, n) => n + 1),
      })),
  );
  for (const { id, attempts, state, nextAt } of model.rows) {
    expect(attempts).toBeLessThanOrEqual(RETRY_DELAYS_MS.length + 1);
    expect(nextAt !== null).toBe(state === 'pending');
    // An attempt is in the hands of one worker at a time, as long as its claim holds.
    const holders = model.claims.filter(
      ({ row, until }) => row.id === id && row.leasedUntil !== null && until > model.now,
    );
    expect(holders.length).toBeLessThanOrEqual(1);
  }
};

const anyIndex = fc.nat({ max: 20 });

const machine = stateMachine<Model>({
  start,
  verify,
  maxSteps: 40,
  steps: (step) => {
    step(
      'send a test event',
      fc.constant(null),
      async (model) => {
        const { accountId, now } = model;
        const [id, event] = [newUuid(), newUuid()];
        const { kind } = await sendTestEvent(
          connected.db,
          MAX_ON_DEMAND,
        )({
          ...{ accountId, test: false, deliveryId: id, now: at(now) },
          event: { id: event, type: 'webhook.test', body: '{}' },
        });
        expect(kind).toBe(model.endpoint === null ? 'no_webhook' : 'made');
        if (kind === 'made') add(model, id, event);
      },
      3,
    );
    step('resend', anyIndex, async (model, n) => {
      const row = pick(model.rows, n);
      if (row === null) return;
      const id = newUuid();
      const reader = { accountId: model.accountId, testOnly: false };
      const { kind } = await resendDelivery(
        connected.db,
        MAX_ON_DEMAND,
      )({ deliveryId: row.id, reader, newDeliveryId: id, now: at(model.now) });
      expect(kind).toBe(model.endpoint === null ? 'no_webhook' : 'made');
      if (kind === 'made') add(model, id, row.event);
    });
    step(
      'claim the next attempt of',
      anyIndex,
      async (model, n) => {
        const row = pick(pendingOf(model), n) ?? pick(model.rows, n);
        if (row !== null) await claim(model, row, row.attempts + 1);
      },
      8,
    );
    step(
      'run an old job of',
      fc.record({ n: anyIndex, number: fc.integer({ min: 1, max: 4 }) }),
      async (model, old) => {
        const row = pick(model.rows, old.n);
        if (row !== null) await claim(model, row, old.number);
      },
    );
    const withClaim = (name: string, run: (model: Model, claimed: Claimed) => Promise<void>) =>
      step(name, anyIndex, async (model, n) => {
        const claimed = pick(model.claims, n);
        if (claimed === null) return;
        model.claims.splice(model.claims.indexOf(claimed), 1);
        // What a worker does that finds no endpoint.
        if (claimed.hasEndpoint) return run(model, claimed);
        const { row } = claimed;
        await endRemovedDeliveries(connected.db)(at(model.now), row.id);
        if (row.state === 'pending' && !row.held && row.endpoint !== model.endpoint) endRow(row, 'failed');
      });
    withClaim('succeed with attempt', (model, claimed) => record(model, claimed, true));
    withClaim('fail with attempt', (model, claimed) => record(model, claimed, false));
    withClaim('crash during attempt', async () => undefined);
    withClaim('release attempt', async (_model, { row, number, until }) => {
      await releaseDelivery(connected.db)({ deliveryId: row.id, number, leasedUntil: at(until) });
      if (row.state === 'pending' && row.attempts === number - 1 && row.leasedUntil === until) row.leasedUntil = null;
    });
    step('sweep', fc.boolean(), sweep);
    step('set the endpoint', fc.constant(null), configure, 2);
    step('remove the endpoint', fc.constant(null), async (model) => {
      expect(await removeWebhook(connected.db)(model.accountId, at(model.now))).toBe(model.endpoint !== null);
      if (model.endpoint !== null) for (const row of pendingOf(model)) endRow(row, 'failed');
      model.endpoint = null;
    });
    step('disable or enable the account', fc.constantFrom(true, false, false), async (model, disabled) => {
      model.disabled = disabled;
      const disabledAt = disabled ? at(model.now) : null;
      await connected.db.account.update({ where: { id: model.accountId }, data: { disabledAt } });
    });
    step(
      'let time pass',
      fc.constantFrom(500, 1_100, 3_100, 6_000),
      async (model, ms) => {
        model.now += ms;
      },
      3,
    );
  },
  // Once the account is enabled and nothing holds an attempt, every delivery is due, and reaches its end.
  end: async (model) => {
    model.claims = [];
    model.disabled = false;
    await connected.db.account.update({ where: { id: model.accountId }, data: { disabledAt: null } });
    for (let round = 0; pendingOf(model).length > 0; round += 1) {
      expect(round).toBeLessThan(2 * RETRY_DELAYS_MS.length + 2);
      model.now += 10_000;
      await sweep(model, true);
      for (const row of pendingOf(model)) await claim(model, row, row.attempts + 1);
      for (const claimed of model.claims.splice(0)) await record(model, claimed, false);
    }
    await verify(model);
  },
});

test('law: whatever happens in whatever order, a delivery has one attempt at a time, each is logged once, and it ends', async () => {
  const numRuns = faultSize(20, 2_000);
  await fc.assert(machine, { numRuns });
  reportFigure(`delivery machine: ${numRuns} runs`);
}, 1_200_000);
