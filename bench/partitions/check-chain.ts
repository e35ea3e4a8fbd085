import {
  acceptRequest,
  admitRequest,
  beginLookup,
  claimDelivery,
  type Database,
  findCheck,
  findEvidence,
  findRequest,
  listChecks,
  markLookupStarted,
  recordAttempt,
  settleRequest,
} from '@vat/db';
import { type Exchange, newUuid } from '@vat/domain';
import { cloneDatabase, makePastMonths } from '@vat/testkit';
import pg from 'pg';
import { connectBench } from '../open-world.js';

/** A database with one account. `months`: partitions before the current one. */
export type BenchDatabase = {
  months: number;
  url: string;
  db: Database;
  accountId: string;
  close: () => Promise<void>;
};

/** Opens a new database with one account. */
export const openDatabase = async (months: number, maxConnections: number): Promise<BenchDatabase> => {
  const cloned = await cloneDatabase();
  const client = new pg.Client({ connectionString: cloned.url });
  await client.connect();
  if (months > 0) await makePastMonths(client, new Date(), months);
  const accountId = newUuid();
  await client.query(`INSERT INTO account (id, name, plan, created_at) VALUES ($1, 'Bench', 'free', now())`, [
    accountId,
  ]);
  await client.query(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES ($1, 'https://example.com/', '', 'whsec_aa', now())`,
    [accountId],
  );
  await client.end();
  const { db, close } = connectBench(cloned.url, { maxConnections, keepOpen: maxConnections });
  return {
    ...{ months, url: cloned.url, db, accountId },
    close: async () => {
      await close();
      await cloned.drop();
    },
  };
};

const EXCHANGE = (): Exchange => ({
  ...{ source: 'vies', startedAt: new Date(), durationMs: 80, error: null },
  request: { method: 'POST', url: 'http://127.0.0.1/', headers: { accept: 'text/xml' }, body: Buffer.alloc(300) },
  response: { status: 200, headers: { 'content-type': 'text/xml' }, body: Buffer.alloc(700), complete: true },
});

/** The statements of one check, from admission to its page of the list, and of its delivery, in order. */
export const checkChain = ({ db, accountId }: BenchDatabase) => {
  const [admit, begin, mark, settle] = [admitRequest(db), beginLookup(db), markLookupStarted(db), settleRequest(db)];
  const [find, get, evidence, list] = [findRequest(db), findCheck(db), findEvidence(db), listChecks(db)];
  const [claim, record, accept] = [claimDelivery(db), recordAttempt(db), acceptRequest(db)];
  const reader = { accountId, testOnly: false };
  let requestId = '';
  let checkId = '';
  let deliveryId = '';
  return {
    admit: async () => {
      requestId = newUuid();
      const at = new Date();
      await admit({
        request: {
          id: requestId,
          accountId,
          test: false,
          input: 'DE1',
          memberState: 'DE',
          national: '1',
          vatNumber: 'DE1',
          ...{ requester: null, reference: null, trader: null, entries: [], createdAt: at, windowEndsAt: at },
        },
        ...{ quota: { period: at.toISOString().slice(0, 7), limit: 1e9 }, maxPending: 200, idempotency: null },
      });
    },
    begin: () => begin(requestId, new Date()),
    mark: () => mark(requestId, 0, new Date()),
    accept: async () => {
      const now = new Date();
      const wanted = { id: requestId, accountId, now, giveUpAt: now, maxPending: 200, evenAnswered: false };
      if ((await accept(wanted)).kind !== 'accepted') throw new Error('a request was not accepted');
    },
    settle: async () => {
      [checkId, deliveryId] = [newUuid(), newUuid()];
      const settled = await settle({
        ...{ requestId, entries: [], consumes: true, exchanges: [EXCHANGE()], now: new Date(), deliveryId },
        check: {
          ...{ id: checkId, vatNumber: 'DE1', valid: true, reference: null, checkedAt: new Date() },
          ...{ bytes: Buffer.alloc(900), hash: Buffer.alloc(32) },
        },
        event: { id: newUuid(), type: 'check.completed', body: '{}' },
      });
      if (!settled) throw new Error('a request was not settled');
    },
    'findRequest (201)': () => find(requestId),
    'GET /v1/checks/{id}': async () => {
      if ((await get(checkId, reader)) === null) throw new Error('a check was not found');
      await evidence([checkId]);
    },
    'GET /v1/checks': () => list(reader, {}, null, 20),
    'claim delivery': async () => {
      const now = new Date(Date.now() + 1_000);
      const { kind } = await claim({ deliveryId, number: 1, now, leasedUntil: new Date(now.getTime() + 60_000) });
      if (kind !== 'claimed') throw new Error('a delivery was not claimed');
    },
    'record delivery': () =>
      record({
        deliveryId,
        attempt: {
          ...{ number: 1, at: new Date(), url: '', statusCode: 204, durationMs: 1, error: null, address: null },
          timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 1 },
          ...{ answer: Buffer.alloc(0), answerTruncated: false },
        },
        plan: { state: 'successful', nextAttemptAt: null },
        leasedUntil: new Date(),
      }),
  };
};
