import { randomUUID } from 'node:crypto';
import { type DeliveryState, type DueDelivery, planDelivery, sweepDeliveries } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { findPendingDeliveries, overdueDeliveries } from './deliveries.js';
import { claimDelivery, recordAttempt } from './delivery-attempts.js';
import { endRemovedDeliveries, holdDeliveries, resumeDeliveries } from './delivery-retention.js';
import { saveWebhook } from './webhooks.js';

const START = Date.parse('2026-11-20T10:00:00.000Z');
const LEASE_MS = 3_000;
export const RETRY_DELAYS_MS = [1_000, 2_000, 4_000];
const GRACE_MS = 5_000;
export const at = (ms: number) => new Date(ms);

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
export type Claimed = { row: Row; number: number; until: number; hasEndpoint: boolean };
/**  `endpoint`: the current one, null when there is none. */
export type Model = {
  accountId: string;
  now: number;
  disabled: boolean;
  endpoint: number | null;
  endpoints: number;
  rows: Row[];
  claims: Claimed[];
};

export const pendingOf = (model: Model) => model.rows.filter(({ state }) => state === 'pending');
export const add = (model: Model, id: string, event: string) =>
  model.rows.push({
    ...{ id, event, endpoint: model.endpoint ?? 0, state: 'pending', attempts: 0 },
    ...{ nextAt: model.now, leasedUntil: null, held: false },
  });
export const endRow = (row: Row, state: 'successful' | 'failed') =>
  Object.assign(row, { state, nextAt: null, leasedUntil: null });

type Real = Omit<Row, 'endpoint' | 'event' | 'nextAt' | 'leasedUntil'> & {
  nextAt: Date | null;
  leasedUntil: Date | null;
  /** Numbers of the logged attempts. */
  logged: number[];
};

/** The steps of deliveries that several commands take, on the database and on the model. `connected`: opened before the first. */
export const deliveryModel = (connected: { readonly db: Database }) => {
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

  const record = async (model: Model, { row, number, until }: Claimed, succeeded: boolean) => {
    const plan = planDelivery({ number, succeeded, endedAt: at(model.now) }, RETRY_DELAYS_MS);
    const recorded = await recordAttempt(connected.db)({
      ...{ deliveryId: row.id, plan, leasedUntil: at(until) },
      attempt: {
        ...{ number, at: at(model.now), url: 'https://example.com/', statusCode: succeeded ? 204 : 500, durationMs: 5 },
        ...{ error: null, address: null, answer: new Uint8Array(), answerTruncated: false },
        timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 5 },
      },
    });
    expect(recorded).toBe(row.attempts === number - 1);
    if (!recorded) return;
    row.attempts = number;
    // The lease of a worker that took the attempt over stays: it is still sending.
    if (plan.state !== 'pending' || row.leasedUntil === until) row.leasedUntil = null;
    if (row.state === 'pending')
      Object.assign(row, { state: plan.state, nextAt: plan.nextAttemptAt?.getTime() ?? null });
  };

  const sweep = async (model: Model, everything: boolean) => {
    const { db } = connected;
    const enqueued = new Set<string>();
    await sweepDeliveries({
      ...{ overdue: overdueDeliveries(db), hold: holdDeliveries(db), resume: resumeDeliveries(db) },
      ...{ endRemoved: endRemovedDeliveries(db), findPending: findPendingDeliveries(db) },
      // As after a loss of Redis.
      withoutJob: async (deliveries) => deliveries.map(({ id }) => id),
      enqueueLate: async (some: DueDelivery[]) => {
        for (const { id, accountId, attempt } of some)
          if (accountId === model.accountId) enqueued.add(`${id} ${attempt}`);
      },
      now: () => at(model.now),
    })({ everything });
    const pending = pendingOf(model);
    const resumed = pending.filter(({ held }) => held && !model.disabled);
    for (const row of resumed) row.held = false;
    const before = everything ? Number.POSITIVE_INFINITY : model.now - GRACE_MS;
    const overdue = pending.filter(({ held, nextAt }) => !held && nextAt !== null && nextAt < before);
    const expected = new Set(resumed);
    for (const row of overdue) {
      if (model.disabled) row.held = true;
      else if (row.endpoint !== model.endpoint) endRow(row, 'failed');
      else expected.add(row);
    }
    expect([...enqueued].sort()).toEqual([...expected].map(({ id, attempts }) => `${id} ${attempts + 1}`).sort());
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

  return { start, configure, claim, record, sweep, verify };
};
