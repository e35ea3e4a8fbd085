import { beginLookup, findCheck, type Queryable, settleRequest, sqlOf } from '@vat/db';
import { type NewEvent, newUuid, type Settlement } from '@vat/domain';
import type { QueryConfig } from 'pg';
import { exampleBody } from '../deliveries/example-body.js';

type Captured = { text: string; values: unknown[] };

/** The statement that a function of the service's database package runs. */
const capture = async (run: (db: Queryable) => Promise<unknown>): Promise<Captured> => {
  let captured: Captured | undefined;
  const $queryRaw = async (...[query, ...values]: Parameters<typeof sqlOf>): Promise<never[]> => {
    const statement = sqlOf(query, values);
    captured = { text: statement.text, values: statement.values };
    return [];
  };
  await run({ $queryRaw } as unknown as Queryable);
  if (!captured) throw new Error('no statement was run');
  return captured;
};

const REQUEST = newUuid();
const [CHECK, EVENT, DELIVERY] = [newUuid(), newUuid(), newUuid()];
const ACCOUNT = newUuid();
const AT = new Date();
const BODY = Buffer.from(exampleBody('chk_00000000000000000000000000'));
const JSON_HEADERS = { 'content-type': 'application/json' };
const EXCHANGE: Settlement['exchanges'][number] = {
  source: 'vies',
  startedAt: AT,
  durationMs: 100,
  request: { method: 'POST', url: 'http://127.0.0.1/check', headers: JSON_HEADERS, body: BODY.subarray(0, 50) },
  response: { status: 200, headers: JSON_HEADERS, body: BODY.subarray(0, 400), complete: true },
  error: null,
};
const ANSWER: NonNullable<Settlement['lookup']>['answer'] = {
  ...{ verdict: 'valid', name: 'Example Trading Company GmbH', address: 'Musterstrasse 1, 12345 Musterstadt' },
  ...{ consultationNumber: null, traderMatch: null, answeredAt: AT.toISOString() },
};
const COMPLETED: NewEvent = { id: EVENT, type: 'check.completed', body: BODY.toString() };
const settlement = (ofBatch: boolean): Settlement => ({
  requestId: REQUEST,
  entries: [{ source: 'vies', outcome: 'valid', attempts: 1, started_at: AT.toISOString(), duration_ms: 100 }],
  check: {
    ...{ id: CHECK, vatNumber: 'DE136695976', valid: true, reference: null },
    ...{ checkedAt: AT, bytes: BODY, hash: new Uint8Array(32) },
  },
  consumes: true,
  exchanges: [EXCHANGE],
  lookup: { expectedAttempts: 0, attempts: 1, answer: ANSWER },
  event: COMPLETED,
  deliveryId: DELIVERY,
  ofBatch,
  now: AT,
});

/** The id of the exchange, which the statement itself makes, within the JSON of its exchanges. */
const EXCHANGE_ID = /(?<="id":")[0-9a-f-]{36}(?=","source")/;

/** Makes the values of one run: given ids in place of those that were captured, and new ones for what it inserts. */
const template = (name: string, { text, values }: Captured, given: readonly string[]) => {
  const inserted = [CHECK, EVENT, DELIVERY].filter((id) => !given.includes(id));
  return (...ids: string[]): QueryConfig => {
    const own = new Map([
      ...given.map((id, n) => [id, ids[n]] as const),
      ...inserted.map((id) => [id, newUuid()] as const),
    ]);
    const valueIn = (value: unknown): unknown =>
      typeof value !== 'string'
        ? value
        : (own.get(value) ?? (value.startsWith('[{"id":') ? value.replace(EXCHANGE_ID, newUuid()) : value));
    return { name, text, values: values.map(valueIn) };
  };
};

/** The statements of a check, a line and a read as the service runs them, for a program that has nothing but `pg`. */
export const bareStatements = async () => {
  const reader = { accountId: ACCOUNT, testOnly: false };
  const due = new Date(AT.getTime() + 3_600_000);
  return {
    beginLookup: template('begin', await capture((db) => beginLookup(db)(REQUEST, due)), [REQUEST]),
    settleCheck: template('settle', await capture((db) => settleRequest(db)(settlement(false))), [REQUEST]),
    settleLine: template('settle_line', await capture((db) => settleRequest(db)(settlement(true))), [REQUEST]),
    findCheck: template('check', await capture((db) => findCheck(db)(CHECK as never, reader)), [CHECK, ACCOUNT]),
  };
};
