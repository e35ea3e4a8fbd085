import type { FindRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from './request-row.js';

type Row = RequestRow & { check_body: Uint8Array | null; check_hash: Uint8Array | null };

/** Reads one request, of `accountId` alone when given; `null` when there is none. */
export const findRequest =
  (db: Queryable): FindRequest =>
  async (id, accountId) => {
    const [row] = await db.$queryRaw<Row[]>`
      SELECT ${REQUEST_COLUMNS}, c.body AS check_body, c.hash AS check_hash
      FROM request r JOIN account a ON a.id = r.account_id LEFT JOIN "check" c ON c.id = r.check_id
      WHERE r.id = ${id}::uuid AND (${accountId ?? null}::uuid IS NULL OR r.account_id = ${accountId ?? null}::uuid)`;
    if (!row) return null;
    const check =
      row.check_id && row.check_body && row.check_hash
        ? { id: row.check_id, bytes: row.check_body, hash: row.check_hash }
        : null;
    return { request: requestOfRow(row), check };
  };
