import { WEBHOOK_REMOVED } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/**
 * Removes an account's endpoint and ends its pending deliveries with it, in one statement; false when none was set. An
 * attempt that is under way ends by itself and changes nothing any more.
 */
export const removeWebhook =
  (db: Queryable) =>
  async (accountId: string, now: Date): Promise<boolean> => {
    const [row] = await db.$queryRaw<{ removed: boolean }[]>`
      WITH gone AS (
        DELETE FROM webhook WHERE account_id = ${accountId}::uuid RETURNING account_id
      ), ended AS (
        UPDATE delivery d SET state = 'failed', next_attempt_at = NULL, leased_until = NULL,
          last_attempt_at = ${now}::timestamptz, last_status_code = NULL, last_duration_ms = 0,
          last_error = ${WEBHOOK_REMOVED}
        FROM gone WHERE d.account_id = gone.account_id AND d.state = 'pending'
      )
      SELECT EXISTS (SELECT 1 FROM gone) AS removed`;
    return row?.removed ?? false;
  };
