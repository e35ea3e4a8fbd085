import { type Batch, batchCompletedBody, newUuid } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { tellAccount } from '../event-sql.js';
import { Prisma } from '../generated/client.js';

/** A batch that was just completed. `deliveryId`: of batch.completed; null where the account has no endpoint. */
export type CompletedNow = Pick<Batch, 'id' | 'total' | 'done' | 'failed' | 'valid' | 'invalid'> & {
  accountId: string;
  deliveryId: string | null;
};

type Counted = { id: string; account_id: string; total: number; done: number; failed: number; valid: number };

/**
 * Completes the batches none of whose lines is queued any more: state, counts, event and delivery in one statement, once
 * however many try. `ids`: where to look; null for every batch that is not completed, as the sweep does. Once no line is
 * queued the counts cannot change, so they are read before, and no lock is held over it.
 */
export const completeBatches =
  (db: Queryable) =>
  async (ids: readonly string[] | null, now: Date): Promise<CompletedNow[]> => {
    const among = ids === null ? Prisma.empty : Prisma.sql`AND b.id = ANY(${[...ids]}::uuid[])`;
    const ended = await db.$queryRaw<Counted[]>`
      WITH ended AS MATERIALIZED (
        SELECT b.id, b.account_id, b.total FROM batch b
        WHERE b.state <> 'completed' ${among} AND (
          SELECT true FROM batch_line l WHERE l.batch_id = b.id AND l.status = 'queued' LIMIT 1
        ) IS NULL
      )
      SELECT ended.id, ended.account_id, ended.total, c.done, c.failed, c.valid FROM ended CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE status = 'done')::int AS done, count(*) FILTER (WHERE status = 'failed')::int AS failed,
          count(*) FILTER (WHERE valid)::int AS valid
        FROM batch_line WHERE batch_id = ended.id
      ) c`;
    const completed: CompletedNow[] = [];
    for (const { account_id: accountId, ...counts } of ended) {
      const event = { id: newUuid(), type: 'batch.completed' as const, body: batchCompletedBody(counts) };
      const about = Prisma.sql`SELECT id, account_id, false FROM done`;
      const [row] = await db.$queryRaw<{ delivery_id: string | null }[]>`
        WITH done AS (
          UPDATE batch SET state = 'completed', done = ${counts.done}::int, failed = ${counts.failed}::int,
            valid = ${counts.valid}::int, invalid = ${counts.done - counts.valid}::int, completed_at = ${now}::timestamptz
          WHERE id = ${counts.id}::uuid AND state <> 'completed'
          RETURNING id, account_id
        ), ${tellAccount(event, newUuid(), now, about)}
        SELECT (SELECT id FROM sent) AS delivery_id FROM done`;
      if (row)
        completed.push({ ...counts, accountId, invalid: counts.done - counts.valid, deliveryId: row.delivery_id });
    }
    return completed;
  };
