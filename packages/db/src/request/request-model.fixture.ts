import { createHash, randomUUID } from 'node:crypto';
import { type AbandonReason, type Answer, type NewRequest, newUuid, periodOf, type RequestState } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { admitRequest } from './admit-request.js';
import { storeLookup } from './lookups.js';
import { endRequest, settleRequest } from './settle-request.js';

const START = Date.parse('2026-11-20T10:00:00.000Z');
const PERIOD = periodOf(new Date(START));
const HASH = createHash('sha256').update('').digest();
const RETRY_MS = 1_000;
/** From the first lookup of a request until it is given up. */
const GIVE_UP_MS = 5_000;
const ANSWER: Answer = {
  ...{ verdict: 'valid', name: null, address: null, consultationNumber: null, traderMatch: null },
  answeredAt: '2026-11-20T10:00:00.000Z',
};

/** A request as it should be. `ends`: how often it ended. `key`: its bound Idempotency-Key. */
type Row = {
  id: string;
  state: RequestState;
  attempts: number;
  answered: boolean;
  accepted: boolean;
  createdAt: number;
  dueAt: number;
  giveUpAt: number | null;
  key: string | null;
  ends: number;
  /** Whether a lookup began. */
  lookedUp: boolean;
};
/** `hands`: lookups that workers have in hand, with the attempts that they read. */
export type Model = {
  accountId: string;
  now: number;
  disabled: boolean;
  limit: number;
  maxPending: number;
  used: number;
  rows: Row[];
  hands: { row: Row; attempts: number }[];
};

export const isLive = ({ state }: Row) => state === 'waiting' || state === 'pending';
export const live = (model: Model) => model.rows.filter(isLive);
export const pendingOf = (model: Model, except?: Row) =>
  model.rows.filter((row) => row.state === 'pending' && row !== except).length;
export const at = (ms: number) => new Date(ms);

type Real = { id: string; state: RequestState; attempts: number; answered: boolean; accepted: boolean };
type Totals = { used: number; reserved: number; charged: number; checks: number; keys: number };

/** Ends a request in the model. */
export const end = (row: Row, state: 'completed' | 'abandoned' | 'withdrawn') => {
  row.state = state;
  row.ends += 1;
  if (state !== 'completed' && !row.accepted) row.key = null;
};

/** The steps of requests that several commands take, on the database and on the model. `connected`: opened before the first. */
export const requestModel = (connected: { readonly db: Database }) => {
  const start = async (): Promise<Model> => {
    const accountId = randomUUID();
    await connected.db.$executeRaw`
    INSERT INTO account (id, name, plan, created_at) VALUES (${accountId}::uuid, 'M', 'free', ${at(START)}::timestamptz)`;
    return { accountId, now: START, disabled: false, limit: 6, maxPending: 3, used: 0, rows: [], hands: [] };
  };

  const requestOf = ({ accountId, now }: Model): NewRequest => ({
    ...{ id: newUuid(), accountId, test: false, input: 'DE123456789', memberState: 'DE', national: '123456789' },
    ...{ vatNumber: 'DE123456789', requester: null, reference: null, trader: null, entries: [] },
    ...{ createdAt: at(now), windowEndsAt: at(now + RETRY_MS) },
  });
  const admit = async (model: Model, key: string | null) => {
    const request = requestOf(model);
    const result = await admitRequest(connected.db)({
      request,
      quota: { period: PERIOD, limit: model.limit },
      maxPending: model.maxPending,
      idempotency:
        key === null ? null : { key, fingerprint: HASH, lockedUntil: at(model.now), expiredBefore: new Date(0) },
    });
    const isBound = key !== null && model.rows.some((row) => row.key === key);
    const isFull = model.used + live(model).length >= model.limit;
    const kind = isBound
      ? 'key_taken'
      : pendingOf(model) >= model.maxPending
        ? 'too_many_pending'
        : isFull
          ? 'quota_exceeded'
          : 'admitted';
    expect(result.kind).toBe(kind);
    if (kind !== 'admitted') return;
    model.rows.push({
      ...{ id: request.id, state: 'waiting', attempts: 0, answered: false, accepted: false, createdAt: model.now },
      ...{ dueAt: model.now, giveUpAt: null, key, ends: 0, lookedUp: false },
    });
  };

  const settle = async (model: Model, row: Row, lookedUpWith?: number) => {
    const attempts = lookedUpWith;
    const settled = await settleRequest(connected.db)({
      requestId: row.id,
      entries: [],
      check: {
        ...{ id: newUuid(), vatNumber: 'DE123456789', valid: true, reference: null, checkedAt: at(model.now) },
        ...{ bytes: new Uint8Array([123, 125]), hash: HASH },
      },
      ...{ consumes: true, exchanges: [], deliveryId: newUuid(), now: at(model.now) },
      ...(attempts === undefined
        ? {}
        : { lookup: { answer: ANSWER, attempts: attempts + 1, expectedAttempts: attempts } }),
      event: { id: newUuid(), type: 'check.completed', body: '{}' },
    });
    const isExpected = isLive(row) && (attempts === undefined || (!row.answered && row.attempts === attempts));
    expect(settled !== null).toBe(isExpected);
    if (!isExpected) return;
    if (attempts !== undefined) row.attempts += 1;
    model.used += 1;
    end(row, 'completed');
  };

  const abandon = async (model: Model, row: Row, reason: AbandonReason) => {
    const ended = await endRequest(connected.db)({
      ...{ requestId: row.id, reason, deliveryId: newUuid(), now: at(model.now) },
      event: { id: newUuid(), type: 'check.failed', body: '{}' },
    });
    const state = !isLive(row) || row.answered ? null : row.state === 'waiting' ? 'withdrawn' : 'abandoned';
    expect(ended?.state ?? null).toBe(state);
    if (state !== null) end(row, state);
  };

  /** Stores what a lookup came to: an answer, or that it is to be repeated. */
  const store = async (model: Model, { row, attempts }: Model['hands'][number], answered: boolean) => {
    const dueAt = model.now + (answered ? 0 : RETRY_MS);
    const giveUpAt = attempts === 0 ? model.now + GIVE_UP_MS : null;
    const stored = await storeLookup(connected.db)({
      ...{ requestId: row.id, expectedAttempts: attempts, exchange: null, suspend: false, dueAt: at(dueAt) },
      decision: {
        ...{ entries: [], attempts: attempts + 1, windowRetries: 0, backgroundRetries: 0, lastError: null },
        ...{ unconfirmed: null, unconfirmedAt: null, numberAlone: false },
        giveUpAt: giveUpAt === null ? null : at(giveUpAt),
        next: answered ? { kind: 'settle', answer: ANSWER } : { kind: 'retry', at: at(dueAt) },
      },
    });
    const isExpected = isLive(row) && !row.answered && row.attempts === attempts;
    expect(stored?.state ?? null).toBe(isExpected ? row.state : null);
    if (!isExpected) return;
    row.attempts += 1;
    row.answered = answered;
    row.giveUpAt = giveUpAt ?? row.giveUpAt;
    row.dueAt = Math.min(dueAt, row.giveUpAt ?? Number.POSITIVE_INFINITY);
  };

  /** Compares every row, its events and the account's counters with the model, and holds the laws. */
  const verify = async (model: Model) => {
    const { accountId } = model;
    const rows = await connected.db.$queryRaw<(Real & { events: number; dueAt: Date; giveUpAt: Date | null })[]>`
    SELECT id, state, attempts, answer IS NOT NULL OR check_id IS NOT NULL AS answered, accepted_at IS NOT NULL AS accepted,
      due_at AS "dueAt", give_up_at AS "giveUpAt",
      (SELECT count(*)::int FROM event e WHERE e.subject_id = r.id) AS events
    FROM request r WHERE account_id = ${accountId}::uuid ORDER BY id`;
    const expected = model.rows
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((row) => ({
        ...{ id: row.id, state: row.state, attempts: row.attempts, accepted: row.accepted },
        answered: row.answered || row.state === 'completed',
        events: row.accepted && !isLive(row) ? 1 : 0,
        ...{ dueAt: at(row.dueAt), giveUpAt: row.giveUpAt === null ? null : at(row.giveUpAt) },
      }));
    expect(rows).toEqual(expected);
    for (const row of model.rows) expect(row.ends).toBe(isLive(row) ? 0 : 1);
    const [totals] = await connected.db.$queryRaw<Totals[]>`
    SELECT COALESCE((SELECT used FROM usage WHERE account_id = ${accountId}::uuid), 0) AS used,
      COALESCE((SELECT reserved FROM usage WHERE account_id = ${accountId}::uuid), 0) AS reserved,
      (SELECT count(*)::int FROM usage_entry WHERE account_id = ${accountId}::uuid) AS charged,
      (SELECT count(*)::int FROM "check" WHERE account_id = ${accountId}::uuid) AS checks,
      (SELECT count(*)::int FROM idempotency_key WHERE account_id = ${accountId}::uuid) AS keys`;
    const completed = model.rows.filter(({ state }) => state === 'completed').length;
    const keys = model.rows.filter(({ key }) => key !== null).length;
    expect(totals).toEqual({
      used: completed,
      reserved: live(model).length,
      charged: completed,
      checks: completed,
      keys,
    });
    expect(completed + live(model).length).toBeLessThanOrEqual(model.limit);
  };

  return { start, admit, settle, abandon, store, verify };
};
