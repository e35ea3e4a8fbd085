import type { CheckRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from '../request/request-row.js';

/** Malformed numbers of batches that wait for their check, in turns from one account after the other. */
export const findMalformedLines =
  (db: Queryable) =>
  async (limit: number): Promise<CheckRequest[]> => {
    const rows = await db.$queryRaw<RequestRow[]>`
      WITH RECURSIVE account_waiting(id) AS (
        (SELECT account_id FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL
          ORDER BY account_id LIMIT 1)
        UNION ALL
        SELECT (SELECT q.account_id FROM request q
          WHERE q.state = 'pending' AND NOT q.fed AND q.answer IS NOT NULL AND q.account_id > account_waiting.id
          ORDER BY q.account_id LIMIT 1)
        FROM account_waiting WHERE account_waiting.id IS NOT NULL
      ), picked AS (
        SELECT first.id, first.place FROM account_waiting w CROSS JOIN LATERAL (
          SELECT q.id, row_number() OVER (ORDER BY q.id) AS place FROM request q
          WHERE q.state = 'pending' AND NOT q.fed AND q.answer IS NOT NULL AND q.account_id = w.id
          ORDER BY q.id LIMIT ${limit}::int
        ) AS first
        ORDER BY first.place, first.id LIMIT ${limit}::int
      )
      SELECT ${REQUEST_COLUMNS} FROM picked JOIN request r ON r.id = picked.id JOIN account a ON a.id = r.account_id
      ORDER BY picked.place, r.id`;
    return rows.map(requestOfRow);
  };
