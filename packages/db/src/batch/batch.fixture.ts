import { randomUUID } from 'node:crypto';
import { type BatchRow, type NewBatch, newUuidAt, packPlan, periodOf, planBatch } from '@vat/domain';
import { numberOf } from '@vat/testkit';
import type { Database } from '../connect-database.js';

/** A moment every test of batches agrees on, and its month. */
export const AT = new Date('2026-11-20T10:00:00.000Z');
export const PERIOD = periodOf(AT);

export const newAccount = async (db: Database): Promise<string> => {
  const id = randomUUID();
  await db.$executeRaw`
    INSERT INTO account (id, name, plan, created_at) VALUES (${id}::uuid, 'Batch', 'free', ${AT}::timestamptz)`;
  return id;
};

/** Numbers of Germany, from the `from`-th on. */
export const numbers = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => numberOf('DE', from + n));

/** Rows of a file of two columns. */
export const rowsOf = (candidates: string[]): BatchRow[] =>
  candidates.map((candidate, n) => ({
    line: n + 2,
    cells: [candidate, `row ${n}`],
    candidate,
    country: null,
    reference: null,
    requester: null,
  }));

export const newBatch = async (
  accountId: string,
  rows: BatchRow[],
  over: Partial<NewBatch> = {},
): Promise<NewBatch> => ({
  id: newUuidAt(AT),
  accountId,
  label: null,
  fileName: 'numbers.csv',
  requester: null,
  header: ['number', 'note'],
  ...packPlan(planBatch({ rows, requester: null, at: AT })),
  quota: { period: PERIOD, limit: 20_000 },
  overQuota: { code: 'QUOTA_EXCEEDED', message: 'used up' },
  createdAt: AT,
  giveUpAt: new Date(AT.getTime() + 3_600_000),
  maxActive: 5,
  lineLimit: { max: 200_000, since: new Date(AT.getTime() - 86_400_000) },
  idempotency: null,
  answerOf: (batch) => ({ status: 201, headers: {}, body: Buffer.from(JSON.stringify(batch)) }),
  ...over,
});
