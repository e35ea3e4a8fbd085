import { WEBHOOK_REMOVED } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

/**
 * Ends pending deliveries whose endpoint is gone, also when another one has been set since: all of them, or one. They
 * are those whose event was written in the very moment of the removal. Returns how many there were. Held ones wait for
 * their account to be enabled: a sweep must not read all of them each time.
 */
export const endRemovedDeliveries =
  (db: Queryable) =>
  async (now: Date, deliveryId?: string): Promise<number> => {
    const which = deliveryId === undefined ? Prisma.empty : Prisma.sql`AND d.id = ${deliveryId}::uuid`;
    return db.$executeRaw`
      UPDATE delivery d SET state = 'failed', next_attempt_at = NULL, leased_until = NULL,
        last_attempt_at = ${now}::timestamptz, last_status_code = NULL, last_duration_ms = 0,
        last_error = ${WEBHOOK_REMOVED}
      WHERE d.state = 'pending' AND NOT d.held ${which}
        AND NOT EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = d.account_id AND w.generation = d.generation)`;
  };
