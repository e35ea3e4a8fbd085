import type { StoredAnswer } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Keeps the first 2xx answer of a key, to be replayed byte for byte. A later one changes nothing. */
export const storeIdempotentAnswer =
  (db: Queryable) =>
  async (accountId: string, key: string, answer: StoredAnswer): Promise<void> => {
    await db.$executeRaw`
      UPDATE idempotency_key SET status = ${answer.status}::int, headers = ${JSON.stringify(answer.headers)}::jsonb,
        body = ${answer.body}
      WHERE account_id = ${accountId}::uuid AND key = ${key} AND status IS NULL`;
  };
