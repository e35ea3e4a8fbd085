import type { DueCursor, DueDelivery, OverdueDelivery } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** The columns of a delivery that its next job is made of. */
export type DueRow = { id: string; account_id: string; attempts: number; next_attempt_at: Date };

/** The domain's due delivery from its row. */
export const dueDeliveryOf = (row: DueRow): DueDelivery => ({
  id: row.id,
  accountId: row.account_id,
  attempt: row.attempts + 1,
  dueAt: row.next_attempt_at,
});

/** Pending deliveries due before `before` that are not held, oldest first, a slice at a time. */
export const dueDeliveries =
  (db: Queryable) =>
  async (before: Date, after: DueCursor | null, limit: number): Promise<OverdueDelivery[]> => {
    const rows = await db.$queryRaw<(DueRow & { account_disabled: boolean })[]>`
      SELECT d.id, d.account_id, d.attempts, d.next_attempt_at, a.disabled_at IS NOT NULL AS account_disabled
      FROM (
        SELECT id, account_id, attempts, next_attempt_at FROM delivery
        WHERE state = 'pending' AND NOT held AND next_attempt_at < ${before}::timestamptz
          AND (next_attempt_at, id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.id ?? '00000000-0000-0000-0000-000000000000'}::uuid)
        ORDER BY next_attempt_at, id LIMIT ${limit}::int
      ) AS d LEFT JOIN account a ON a.id = d.account_id
      ORDER BY d.next_attempt_at, d.id`;
    return rows.map((row) => ({ ...dueDeliveryOf(row), accountDisabled: row.account_disabled }));
  };
