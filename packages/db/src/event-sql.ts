import type { NewEvent } from '@vat/domain';
import { Prisma } from './generated/client.js';

/**
 * The CTEs `told` and `sent`: an event and, where the account has an endpoint, its first delivery, as rows of the
 * transaction that causes them. `about`: a query of (id, account_id, test) of one subject, or of none to tell nothing.
 * `onDemand`: the account's own call for a test event causes it.
 */
export const tellAccount = (
  event: NewEvent,
  deliveryId: string,
  now: Date,
  about: Prisma.Sql,
  { onDemand }: { onDemand: boolean } = { onDemand: false },
): Prisma.Sql => Prisma.sql`
  told AS (
    INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    SELECT ${event.id}::uuid, about.account_id, ${event.type}, about.id, ${event.body}, about.test, ${now}::timestamptz
    FROM (${about}) AS about(id, account_id, test)
    RETURNING id, account_id, test
  ), sent AS (
    INSERT INTO delivery (id, account_id, event_id, generation, state, test, on_demand, created_at, next_attempt_at)
    SELECT ${deliveryId}::uuid, told.account_id, told.id, w.generation, 'pending', told.test, ${onDemand},
      ${now}::timestamptz, ${now}::timestamptz
    FROM told JOIN webhook w ON w.account_id = told.account_id
    RETURNING id
  )`;
