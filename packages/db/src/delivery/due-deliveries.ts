import type { DueCursor, DueDelivery } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

type Row = { id: string; account_id: string; attempts: number; next_attempt_at: Date };

/** Pending deliveries due before `before`, oldest first, a slice at a time. */
export const dueDeliveries =
  (db: Queryable) =>
  async (before: Date, after: DueCursor | null, limit: number): Promise<DueDelivery[]> => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT id, account_id, attempts, next_attempt_at FROM delivery
      WHERE state = 'pending' AND next_attempt_at < ${before}::timestamptz
        AND (next_attempt_at, id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.id ?? '00000000-0000-0000-0000-000000000000'}::uuid)
      ORDER BY next_attempt_at, id LIMIT ${limit}::int`;
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      attempt: row.attempts + 1,
      dueAt: row.next_attempt_at,
    }));
  };
