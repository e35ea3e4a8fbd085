import type { Delivery, Reader } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOfRow } from './delivery-row.js';

/** Deliveries that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id is the whole keyset. */
export const listDeliveries =
  (db: Queryable) =>
  async ({ accountId, testOnly }: Reader, beforeId: string | null, limit: number): Promise<Delivery[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND d.id < ${beforeId}::uuid`;
    // Not as a parameter: the index of test deliveries serves only a statement that names them.
    const mode = testOnly ? Prisma.sql`AND d.test` : Prisma.empty;
    const rows = await db.$queryRaw<DeliveryRow[]>`
      SELECT ${DELIVERY_COLUMNS} FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE d.account_id = ${accountId}::uuid ${mode} ${before} ORDER BY d.id DESC LIMIT ${limit}::int`;
    return rows.map(deliveryOfRow);
  };
