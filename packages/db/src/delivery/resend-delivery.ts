import type { Queryable } from '../connect-database.js';

export type Resend = { deliveryId: string; accountId: string; newDeliveryId: string; now: Date };

/** Makes a new delivery of the event of an old one, to the endpoint that is set now. */
export const resendDelivery =
  (db: Queryable) =>
  async ({ deliveryId, accountId, newDeliveryId, now }: Resend): Promise<'made' | 'not_found' | 'no_webhook'> => {
    const [row] = await db.$queryRaw<{ found: boolean; made: boolean }[]>`
      WITH old AS (
        SELECT account_id, event_id FROM delivery WHERE id = ${deliveryId}::uuid AND account_id = ${accountId}::uuid
      ), made AS (
        INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
        SELECT ${newDeliveryId}::uuid, old.account_id, old.event_id, w.generation, 'pending', ${now}::timestamptz,
          ${now}::timestamptz
        FROM old JOIN webhook w ON w.account_id = old.account_id RETURNING id
      )
      SELECT EXISTS (SELECT 1 FROM old) AS found, EXISTS (SELECT 1 FROM made) AS made`;
    if (!row?.found) return 'not_found';
    return row.made ? 'made' : 'no_webhook';
  };
